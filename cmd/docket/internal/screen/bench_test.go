//go:build unix

package screen_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/docket-go/docket/cmd/docket/internal/screen"
)

// BenchmarkFrame encodes a frame of 50 rows of 120 columns.
func BenchmarkFrame(b *testing.B) {
	for name, said := range map[string]string{"letters": "cutting the branch of the release", "wide": "漢字の名前 e\u0301 👍🏽 and more"} {
		b.Run(name, func(b *testing.B) {
			var f screen.Frame
			for i := range 50 {
				f = append(f, screen.Line{Spans: []screen.Span{
					{Text: screen.Fit(fmt.Sprint("worker-", i), 24), Style: screen.Strong},
					{Text: screen.Fit("asking", 12), Style: screen.Warn},
					{Text: screen.Fit(strings.Repeat(said+" ", 4), 84)},
				}})
			}
			bytes := 0
			b.ReportAllocs()
			for b.Loop() {
				bytes = 0
				for _, l := range f {
					bytes += len(screen.Encode(l, 120, false))
				}
			}
			if bytes < 50*120 {
				b.Fatalf("got %d bytes, want all columns", bytes)
			}
			b.SetBytes(int64(bytes))
		})
	}
}

// BenchmarkWrap breaks a text of 64 KiB into rows.
func BenchmarkWrap(b *testing.B) {
	text := strings.Repeat("run the tests, all of them, and say which of them were flaky before\n", 960)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if rows := screen.Wrap(text, 60); len(rows) < 1920 {
			b.Fatalf("got %d rows", len(rows))
		}
	}
}
