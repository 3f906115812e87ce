//go:build unix

package tmux_test

import (
	"strings"
	"testing"

	"github.com/docket-go/docket/adapter/tmux"
)

// BenchmarkSanitize applies the rules to prose and to a coloured log.
func BenchmarkSanitize(b *testing.B) {
	for name, line := range map[string]string{
		"prose": "run the tests, all of them, and say which größe of 漢字 fails\n",
		"log":   "\x1b[1;31mFAIL\x1b[0m\tpackage\t0.3s\r\n",
	} {
		for size, bytes := range map[string]int{"1 KiB": 1 << 10, "64 KiB": 64 << 10} {
			b.Run(name+"/"+size, func(b *testing.B) {
				text := strings.Repeat(line, bytes/len(line)) + "the end"
				if got, _ := tmux.Sanitize(text); !strings.HasSuffix(got, "\nthe end") || strings.ContainsAny(got, "\x1b\r") {
					b.Fatalf("got %.80q", got)
				}
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				for b.Loop() {
					tmux.Sanitize(text)
				}
			})
		}
	}
}

// BenchmarkInsert types one prompt into a pane, up to the proof that it was submitted,
// with 10 ms for the screen to settle.
func BenchmarkInsert(b *testing.B) {
	p := startServer(b).open()
	a := p.adapter(b.TempDir())
	b.ReportAllocs()
	for b.Loop() {
		if err := insert(b, a, "run the tests"); err != nil {
			b.Fatal(err)
		}
	}
	if got := len(p.prompts()); got != b.N {
		b.Fatalf("got %d prompts submitted, want %d", got, b.N)
	}
}
