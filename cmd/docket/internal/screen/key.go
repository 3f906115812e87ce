package screen

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// A Key is one key that was pressed, or a text that was pasted.
type Key struct {
	// Name is the character itself, or one of enter, esc, tab, backspace, delete, up,
	// down, left, right, home, end, pgup, pgdn, paste, or ctrl+ or alt+ and a character.
	Name string
	Text string // what it types: empty for keys that type nothing
}

// maxPaste bounds the text of one paste; what is longer is dropped.
const maxPaste = 64 << 10

// A Decoder makes keys of the bytes that a terminal sends. The zero value is ready.
type Decoder struct {
	rest    []byte // bytes that are no whole key yet
	pasting bool
	paste   []byte
}

var pasteEnd = []byte("\x1b[201~")

// Feed returns the keys that end in b. What is no whole key yet is kept.
func (d *Decoder) Feed(b []byte) (keys []Key) {
	d.rest = append(d.rest, b...)
	for len(d.rest) > 0 {
		if d.pasting {
			k, ended := d.takePaste()
			if !ended {
				return keys
			}
			keys = append(keys, k)
			continue
		}
		k, n := decode(d.rest)
		if n == 0 {
			return keys
		}
		d.rest = d.rest[n:]
		switch k.Name {
		case "":
		case "paste":
			d.pasting = true
		default:
			keys = append(keys, k)
		}
	}
	return keys
}

// takePaste takes what was pasted, up to its end.
func (d *Decoder) takePaste() (k Key, ended bool) {
	end := bytes.Index(d.rest, pasteEnd)
	n := end
	if end < 0 {
		n = max(len(d.rest)-len(pasteEnd)+1, 0) // the rest may be the begin of the end
	}
	d.paste = append(d.paste, d.rest[:min(n, maxPaste-len(d.paste))]...)
	d.rest = d.rest[n:]
	if end < 0 {
		return Key{}, false
	}
	d.rest = d.rest[len(pasteEnd):]
	k = Key{"paste", strings.ToValidUTF8(string(d.paste), "")}
	d.pasting, d.paste = false, nil
	return k, true
}

// Waiting reports that there are bytes which are a key by themselves if nothing
// follows soon.
func (d *Decoder) Waiting() bool { return !d.pasting && len(d.rest) > 0 }

// Flush returns the key in what was kept, as nothing follows: an escape is one by
// itself.
func (d *Decoder) Flush() []Key {
	if !d.Waiting() {
		return nil
	}
	lone := len(d.rest) == 1 && d.rest[0] == esc
	d.rest = nil
	if lone {
		return []Key{{Name: "esc"}}
	}
	return nil
}

const esc = 0x1b

// decode returns the first key of b and its length: 0 if it is not whole, and a key
// without a name for what is none.
func decode(b []byte) (Key, int) {
	switch c := b[0]; {
	case c == esc:
		return decodeEscape(b)
	case c == '\r', c == '\n':
		return Key{Name: "enter"}, 1
	case c == '\t':
		return Key{Name: "tab"}, 1
	case c == 0x7f, c == 0x08:
		return Key{Name: "backspace"}, 1
	case c == 0:
		return Key{Name: "ctrl+space"}, 1
	case c < ' ':
		return Key{Name: "ctrl+" + string(rune('a'+(c-1)&0x1f))}, 1
	}
	if !utf8.FullRune(b) {
		return Key{}, 0
	}
	r, n := utf8.DecodeRune(b)
	if r == utf8.RuneError {
		return Key{}, n
	}
	return Key{string(r), string(r)}, n
}

func decodeEscape(b []byte) (Key, int) {
	switch {
	case len(b) == 1:
		return Key{}, 0
	case b[1] == '[':
		return decodeCSI(b)
	case b[1] == 'O':
		if len(b) < 3 {
			return Key{}, 0
		}
		return Key{Name: letters[b[2]]}, 3
	case b[1] == esc:
		return Key{Name: "esc"}, 1
	}
	k, n := decode(b[1:])
	if n == 0 || k.Name == "" {
		return k, 0
	}
	return Key{Name: "alt+" + k.Name}, n + 1
}

// letters and numbers are the keys by how their sequence ends, or begins.
var (
	letters = map[byte]string{'A': "up", 'B': "down", 'C': "right", 'D': "left", 'H': "home", 'F': "end", 'M': "enter"}
	numbers = map[string]string{
		"1": "home", "7": "home", "4": "end", "8": "end", "5": "pgup", "6": "pgdn", "3": "delete", "200": "paste",
	}
)

// maxSequence is more than any key sends. What is longer is noise.
const maxSequence = 32

// decodeCSI reads a control sequence: ESC [, parameters, one final byte.
func decodeCSI(b []byte) (Key, int) {
	end := 2
	for end < len(b) && end < maxSequence && b[end] >= 0x20 && b[end] < 0x40 {
		end++
	}
	switch {
	case end == len(b):
		return Key{}, 0
	case b[end] < 0x40 || b[end] > 0x7e:
		return Key{}, end // it was broken off
	case b[end] == '~':
		number, _, _ := strings.Cut(string(b[2:end]), ";")
		return Key{Name: numbers[number]}, end + 1
	}
	return Key{Name: letters[b[end]]}, end + 1
}
