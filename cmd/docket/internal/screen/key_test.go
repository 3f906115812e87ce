package screen_test

import (
	"strings"
	"testing"

	"github.com/docket-go/docket/cmd/docket/internal/screen"
)

func names(keys []screen.Key) string {
	var all []string
	for _, k := range keys {
		all = append(all, k.Name)
	}
	return strings.Join(all, " ")
}

func TestDecoder(t *testing.T) {
	for _, tt := range []struct{ name, sent, want string }{
		{"letters", "jK/", "j K /"},
		{"a letter of several bytes", "é漢", "é 漢"},
		{"no text", "\xff\xfex", "x"},
		{"enter and backspace", "\r\n\x7f\x08", "enter enter backspace backspace"},
		{"control", "\x03\x15\x1a", "ctrl+c ctrl+u ctrl+z"},
		{"arrows", "\x1b[A\x1b[B\x1b[C\x1b[D", "up down right left"},
		{"arrows in application mode", "\x1bOA\x1bOB", "up down"},
		{"arrows with a modifier", "\x1b[1;5A", "up"},
		{"pages", "\x1b[5~\x1b[6~\x1b[1~\x1b[4~\x1b[H\x1b[F", "pgup pgdn home end home end"},
		{"an unknown sequence", "\x1b[99~\x1b[?1;2cx", "x"},
		{"a sequence that was broken off", "\x1b[1\x07x", "ctrl+g x"},
		{"alt", "\x1bx", "alt+x"}, // and not x, which would be a command
		{"two escapes", "\x1b\x1b[A", "esc up"},
		{"a paste", "a\x1b[200~rx\x1b[Ay\x1b[201~b", "a paste b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var d screen.Decoder
			if got := names(d.Feed([]byte(tt.sent))); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			var slow screen.Decoder // each byte by itself
			var keys []screen.Key
			for i := range len(tt.sent) {
				keys = append(keys, slow.Feed([]byte{tt.sent[i]})...)
			}
			if got := names(keys); got != tt.want {
				t.Errorf("byte by byte: got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestPasteIsOneText(t *testing.T) {
	var d screen.Decoder
	keys := d.Feed([]byte("\x1b[200~two\nlines\x1b[2"))
	keys = append(keys, d.Feed([]byte("01~"))...)
	if len(keys) != 1 || keys[0].Text != "two\nlines" {
		t.Errorf("got %q", keys)
	}
}

func TestEscapeByItself(t *testing.T) {
	var d screen.Decoder
	if keys := d.Feed([]byte("\x1b")); len(keys) > 0 || !d.Waiting() {
		t.Fatalf("got %q before it was clear that nothing follows", keys)
	}
	if got := names(d.Flush()); got != "esc" || d.Waiting() {
		t.Errorf("got %q", got)
	}
}

// Whatever is sent, each key has a name, and nothing is kept without end.
func FuzzDecoder(f *testing.F) {
	for _, seed := range []string{"a", "\x1b[A", "\x1b[200~x\x1b[201~", "\x1b\x1b", "\xff", "\x1b[1;", "é"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		var d screen.Decoder
		for _, k := range append(d.Feed(sent), d.Flush()...) {
			if k.Name == "" {
				t.Errorf("a key without a name in %q", sent)
			}
		}
		if d.Waiting() {
			t.Errorf("something is kept of %q", sent)
		}
	})
}
