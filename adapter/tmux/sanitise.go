package tmux

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// tag goes in front of a text that a harness would take for a command of its
// own. A blank is not enough: some harnesses trim it first.
const tag = "[docket] "

// commandRunes are the first runes by which harnesses tell a command, a shell
// escape, a file mention or a help key from a conversation.
const commandRunes = "/!@#?$:"

// Sanitize returns text as it may be typed into a terminal, and whether that
// differs from text. It is a pure function; these are all of its rules, in order:
//
//  1. Bytes that are not UTF-8 become U+FFFD.
//  2. CR LF and CR become LF.
//  3. Escape sequences are dropped whole; an escape sequence that does not end
//     loses its introducer only.
//  4. Of the other control characters (C0, DEL, C1) all but LF and TAB are
//     dropped.
//  5. Line feeds at the end are dropped.
//  6. A backslash at the end gets a space behind it, because several harnesses
//     read backslash and Enter as a line break.
//  7. If the first rune that can be seen is one of / ! @ # ? $ : the text gets
//     "[docket] " in front, so that it is conversation and not a command.
//
// The result of sanitising a result is the same result again.
func Sanitize(text string) (clean string, changed bool) {
	clean = sanitize(text, false)
	return clean, clean != text
}

// sanitize applies the rules of [Sanitize], the last one only if commands are
// not to pass.
func sanitize(text string, commands bool) string {
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.ReplaceAll(text, "\r", "\n")
	text = strings.TrimRight(dropControls(text), "\n")
	if strings.HasSuffix(text, `\`) {
		text += " "
	}
	if !commands && startsCommand(text) {
		text = tag + text
	}
	return text
}

// dropControls removes escape sequences and control characters.
func dropControls(text string) string {
	if strings.IndexFunc(text, dropped) < 0 {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == 0x1b || r >= 0x80 && r < 0xa0:
			size += sequenceBytes(r, text[size:])
		case !dropped(r):
			b.WriteRune(r)
		}
		text = text[size:]
	}
	return b.String()
}

// dropped reports whether r is a control character other than LF and TAB.
func dropped(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }

// sequenceBytes returns how many bytes of rest belong to the escape sequence that
// the control r begins. ESC with a byte from @ to _ and the C1 control 0x40 above
// that byte are two spellings of the same introducer.
func sequenceBytes(r rune, rest string) int {
	introducer, used := r-0x40, 0
	if r == 0x1b {
		if rest == "" {
			return 0
		}
		introducer, used = rune(rest[0]), 1
	}
	switch introducer {
	case '[':
		return used + controlBytes(rest[used:], 0x30, 0x3f)
	case ']', 'P', 'X', '^', '_':
		return used + stringBytes(rest[used:])
	}
	switch {
	case r != 0x1b:
		return 0
	case introducer < 0x20 || introducer > 0x7e:
		return 0 // ESC in front of text or of another control
	case introducer < 0x30:
		return controlBytes(rest, 1, 0)
	}
	return used
}

// controlBytes measures parameters from low to high, intermediates and one final
// byte; nothing if the final byte is missing.
func controlBytes(s string, low, high byte) int {
	i := 0
	for i < len(s) && s[i] >= low && s[i] <= high {
		i++
	}
	for i < len(s) && s[i] >= 0x20 && s[i] <= 0x2f {
		i++
	}
	if i < len(s) && s[i] >= 0x30 && s[i] <= 0x7e {
		return i + 1
	}
	return 0
}

// stringBytes measures a string up to and with its terminator (BEL, ESC \ or the
// C1 form of that); nothing if there is none.
func stringBytes(s string) int {
	end, size := -1, 0
	for _, terminator := range []string{"\a", "\x1b\\", "\u009c"} {
		if i := strings.Index(s, terminator); i >= 0 && (end < 0 || i < end) {
			end, size = i, len(terminator)
		}
	}
	if end < 0 {
		return 0
	}
	return end + size
}

// startsCommand reports whether the first rune of text that can be seen is one of
// the command runes.
func startsCommand(text string) bool {
	visible := strings.TrimLeftFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) })
	r, _ := utf8.DecodeRuneInString(visible)
	return visible != "" && strings.ContainsRune(commandRunes, r)
}

// blank reports whether nothing of text can be seen.
func blank(text string) bool {
	return strings.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) }) == ""
}
