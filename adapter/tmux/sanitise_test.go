package tmux_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/docket-go/docket/adapter/tmux"
)

func TestSanitize(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ rule, text, want string }{
		{"plain text stays", "run the tests; -t Enter #{pane_id}", "run the tests; -t Enter #{pane_id}"},
		{"tab and line feed stay", "a\tb\nc", "a\tb\nc"},
		{"blanks at the end stay", "a  ", "a  "},
		{"not UTF-8", "a\xffb", "a\ufffdb"},
		{"C1 as a byte", "a\x9b201~b", "a\ufffd201~b"},
		{"CR LF", "a\r\nb\r\n", "a\nb"},
		{"CR", "a\rb\r", "a\nb"},
		{"CR CR LF", "a\r\r\nb", "a\n\nb"},
		{"end of paste", "a\x1b[201~b", "ab"},
		{"end of paste, eight bits", "a\u009b201~b", "ab"},
		{"end of paste inside another one", "a\x1b[20\x1b[201~1~b", "a201~b"}, // no sequence: no ESC is left
		{"colours", "\x1b[1;31mred\x1b[0m", "red"},
		{"title", "a\x1b]0;title\x07b\x1b]0;title\x1b\\c\u009d0;title\u009cd", "abcd"},
		{"title without an end", "a\x1b]0;all of this stays", "a0;all of this stays"},
		{"sequence without an end", "a\x1b[12", "a12"},
		{"single shift and charset", "a\x1bNb\x1b(Bc", "abc"},
		{"ESC at the end", "a\x1b", "a"},
		{"ESC before a rune", "a\x1bö", "aö"},
		{"ESC before line feed", "a\x1b\nb", "a\nb"},
		{"C0, DEL and C1", "a\x00\x03\x08\x0c\x7f\u0085\u009fb", "ab"},
		{"line feeds at the end", "a\n\n\n", "a"},
		{"line feeds that controls hide", "a\n\x00\n\x07", "a"},
		{"backslash at the end", `a\`, `a\ `},
		{"backslash before a line feed at the end", "a\\\n", `a\ `},
		{"backslash inside", `a\b`, `a\b`},
		{"command", "/quit", "[docket] /quit"},
		{"shell", "!ls", "[docket] !ls"},
		{"file", "@x", "[docket] @x"},
		{"memory", "# x", "[docket] # x"},
		{"help", "?", "[docket] ?"},
		{"variable", "$x", "[docket] $x"},
		{"colon", ":q", "[docket] :q"},
		{"command behind blanks", " \n\t/quit", "[docket]  \n\t/quit"},
		{"command behind runes without a picture", "\ufeff\u200b/quit", "[docket] \ufeff\u200b/quit"},
		{"command behind a control", "\x07\x1b[0m/quit", "[docket] /quit"},
		{"command in the second line", "a\n/quit", "a\n/quit"},
		{"nothing", "", ""},
		{"nothing but controls", "\x1b[2J\r\n\x00", ""},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			got, changed := tmux.Sanitize(tt.text)
			if got != tt.want || changed != (tt.text != tt.want) {
				t.Errorf("Sanitize(%q): got %q, %v, want %q, %v", tt.text, got, changed, tt.want, tt.text != tt.want)
			}
		})
	}
}

func FuzzSanitize(f *testing.F) {
	for _, text := range []string{"", "a\x1b[201~\r", "\u009b201~", "\\\n", " /x", "\x1b]0;a\x1b", "\x1b\x1b[[", "\xff\x9b", "\x1bP\x1b\\\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, changed := tmux.Sanitize(text)
		if changed != (got != text) {
			t.Errorf("changed: got %v for %q and %q", changed, text, got)
		}
		if !utf8.ValidString(got) {
			t.Errorf("got %q, want UTF-8", got)
		}
		if i := strings.IndexFunc(got, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }); i >= 0 {
			t.Errorf("got %q, want no control at %d", got, i)
		}
		if strings.HasSuffix(got, "\n") || strings.HasSuffix(got, `\`) {
			t.Errorf("got the end of %q, want another one", got)
		}
		if first := strings.TrimLeftFunc(got, unicode.IsSpace); first != "" && strings.ContainsRune("/!@#?$:", rune(first[0])) {
			t.Errorf("got %q, want a tag in front", got)
		}
		if again, changed := tmux.Sanitize(got); changed {
			t.Errorf("again: got %q, want %q", again, got)
		}
	})
}
