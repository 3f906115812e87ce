package host_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/docket-go/docket/adapter/host"
)

// Each line that is read, or its length if it is long, with a mark for one that was cut.
func TestLines(t *testing.T) {
	const limit = 100_000 // more than the reader takes at a time
	x := func(n int) string { return strings.Repeat("x", n) }
	for _, tt := range []struct{ name, in, want string }{
		{"nothing", "", "EOF"},
		{"two", "a\nb\n", "a, b, EOF"},
		{"an empty one", "\n\nb\n", ", , b, EOF"},
		{"no end", "a\nb", "a, EOF"},
		{"as long as may be", x(limit) + "\nb\n", "100000, b, EOF"},
		{"too long", x(limit+1) + "\nb\n", "cut 4096, b, EOF"},
		{"far too long", x(50*limit) + "\nb\n" + x(2*limit) + "\n", "cut 4096, b, cut 4096, EOF"},
		{"too long without an end", x(2 * limit), "EOF"},
		{"too long with no more than its end", x(limit) + "y" + "\n\n", "cut 4096, , EOF"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for how, in := range map[string]io.Reader{
				"at once": strings.NewReader(tt.in), "in halves": iotest.HalfReader(strings.NewReader(tt.in)),
			} {
				if got := readLines(host.NewLines(in, limit)); got != tt.want {
					t.Errorf("%s: got %s, want %s", how, got, tt.want)
				}
			}
		})
	}
}

func TestLinesOfABrokenReader(t *testing.T) {
	broken := errors.New("broken")
	l := host.NewLines(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)), 10)
	if got := readLines(l); got != "a, broken" {
		t.Errorf("got %s, want a, broken", got)
	}
	if _, _, err := l.Next(); err == nil {
		t.Error("got a line after the end, want none")
	}
}

// A limit shorter than what is kept of a line keeps no more than there is.
func TestLinesWithASmallLimit(t *testing.T) {
	if got := readLines(host.NewLines(strings.NewReader("abc\nabcd\nabc\n"), 3)); got != "abc, cut abcd, abc, EOF" {
		t.Errorf("got %s", got)
	}
}

func readLines(l *host.Lines) string {
	var got []string
	for {
		line, whole, err := l.Next()
		if err != nil {
			return strings.Join(append(got, err.Error()), ", ")
		}
		said := string(line)
		if len(said) > 10 {
			said = fmt.Sprint(len(said))
		}
		if !whole {
			said = "cut " + said
		}
		got = append(got, said)
	}
}

func TestWholeFields(t *testing.T) {
	for head, want := range map[string]string{
		`{"type":"result","subtype":"success","is_error":false,"result":"aaaa`: `{"type":"result","subtype":"success","is_error":false}`,
		`{"type":"a","n":12`:   `{"type":"a"}`,
		`{"type":"a","o":{"b"`: `{"type":"a"}`,
		`{"type":"a"}xxxxx`:    `{"type":"a"}`,
		`{"type":"a`:           ``,
		`{`:                    ``,
		`[1,2`:                 ``,
		"\x00\x00":             ``,
		``:                     ``,
	} {
		if got := string(host.WholeFields([]byte(head))); got != want {
			t.Errorf("%q: got %q, want %q", head, got, want)
		}
	}
}
