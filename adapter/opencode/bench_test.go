package opencode_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/opencode"
)

// BenchmarkInsert hands one prompt of 300 bytes over to a server that answers at once,
// which forgets the ones before.
func BenchmarkInsert(b *testing.B) {
	for name, join := range map[string]bool{"wait": false, "join": true} {
		b.Run(name, func(b *testing.B) {
			s := startServer(b)
			a := open(b, b.TempDir(), opencode.Options{URL: s.http.URL, Join: join})
			text := strings.Repeat("prose ", 50)
			requests := 0
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if err := a.Insert(b.Context(), prompt(fmt.Sprint("m", i), text)); err != nil {
					b.Fatal(err)
				}
				s.change(func(s *server) {
					requests += len(s.users)
					s.messages, s.users, s.dirs, s.bodies = s.messages[max(0, len(s.messages)-2):], nil, nil, nil
				})
			}
			if s.posts != b.N {
				b.Fatalf("got %d prompts, want %d", s.posts, b.N)
			}
			b.ReportMetric(float64(requests)/float64(b.N), "requests/op")
		})
	}
}

// BenchmarkLookup asks for a prompt that is there and for one that is not.
func BenchmarkLookup(b *testing.B) {
	s := startServer(b)
	a := open(b, b.TempDir(), opencode.Options{URL: s.http.URL})
	if err := a.Insert(b.Context(), prompt("m1", "prose")); err != nil {
		b.Fatal(err)
	}
	for mid, want := range map[string]adapter.Presence{"m1": adapter.Present, "m2": adapter.Absent} {
		b.Run(want.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if got, err := a.Lookup(b.Context(), mid); got != want || err != nil {
					b.Fatalf("got %v, %v, want %v", got, err, want)
				}
			}
		})
	}
}
