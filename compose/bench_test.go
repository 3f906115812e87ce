package compose_test

import (
	"strings"
	"testing"

	"github.com/docket-go/docket/compose"
)

// BenchmarkCompose joins a text of 300 bytes and one of 64 KiB with each insert.
func BenchmarkCompose(b *testing.B) {
	for name, r := range map[string]compose.Request{
		"no insert":     {},
		"note reply":    {Headless: true},
		"counter":       {LastHuman: note},
		"from an agent": {Headless: true, From: "peer"},
	} {
		for size, text := range map[string]string{"300 B": strings.Repeat("prose ", 50), "64 KiB": strings.Repeat("prose ", 11_000)} {
			r.Text = text
			b.Run(name+"/"+size, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := (compose.Texts{}).Compose(r); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
