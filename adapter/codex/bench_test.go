package codex_test

import (
	"fmt"
	"testing"

	"github.com/docket-go/docket/adapter/host"
)

// BenchmarkTurn is a whole turn with a program that answers at once.
func BenchmarkTurn(b *testing.B) {
	f, a := open(b, whole, nil)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s := taken(b, f, a, fmt.Sprint("m", i)) // what it has already it would not get again
		f.text("ack")
		f.complete("completed")
		if end := s.End(b); end.Outcome != host.Success || len(s.Values()) != 1 {
			b.Fatalf("got %q and %+v, want the text and success", s.All(), end)
		}
	}
}

// BenchmarkDelta is a piece of text that the agent says, one of 100 in a turn.
func BenchmarkDelta(b *testing.B) {
	const n = 100
	f, a := open(b, whole, nil)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s := taken(b, f, a, fmt.Sprint("m", i))
		for range n {
			f.note("item/agentMessage/delta", `,"turnId":"u-1","itemId":"a","delta":"a few words of text "`)
		}
		f.complete("completed")
		if s.End(b); len(s.Values()) != n {
			b.Fatalf("got %d pieces, want %d", len(s.Values()), n)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/piece")
}
