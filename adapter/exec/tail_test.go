package exec_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/docket-go/docket/adapter/exec"
)

func TestTail(t *testing.T) {
	many := strings.Repeat("line\n", 1000)
	for _, tt := range []struct {
		name   string
		writes []string
		want   string
	}{
		{"nothing", nil, ""},
		{"blank lines", []string{"\n \n\t\n"}, ""},
		{"one line", []string{"no room\n"}, "no room"},
		{"no newline", []string{"no room"}, "no room"},
		{"the last three", []string{"1\n2\n", "\n3", "\n4\n"}, "2 | 3 | 4"},
		{"the last three of many", []string{many, "2\n3\n4\n"}, "2 | 3 | 4"},
		{"many writes", strings.SplitAfter(many, ""), "line | line | line"},
		{"one long line", []string{strings.Repeat("x", 10_000)}, "..." + strings.Repeat("x", 500)},
		{"cut inside a rune", []string{"\u4f60" + strings.Repeat("x", 499)}, "..." + strings.Repeat("x", 499)},
		{"not UTF-8", []string{"a\xffb"}, "ab"},
		{"terminal commands", []string{"\x1b[31mred\x07\r\n"}, "[31mred"},
	} {
		if got := exec.TailOf(tt.writes...); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func FuzzTail(f *testing.F) {
	f.Add("a\nb", "c\n")
	f.Add(strings.Repeat("\u4f60", 400), "\x1b[0m")
	f.Fuzz(func(t *testing.T, first, second string) {
		got := exec.TailOf(first, second)
		if !utf8.ValidString(got) || len(got) > 600 || strings.ContainsFunc(got, unicode.IsControl) {
			t.Errorf("got %q, want a short printable line", got)
		}
	})
}
