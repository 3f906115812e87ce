package acp_test

import (
	"context"
	"testing"

	"github.com/docket-go/docket/adapter/adaptertest/hosttest"
	"github.com/docket-go/docket/adapter/host"
)

// BenchmarkTurn is a whole turn with an agent that answers at once.
func BenchmarkTurn(b *testing.B) {
	f, a := open(b, whole, nil)
	b.ReportAllocs()
	for b.Loop() {
		s, answer := submit(context.Background(), a, "run the tests")
		prompt := f.Expect("session/prompt")
		f.chunk("ack")
		f.stop(prompt, "end_turn")
		if err := hosttest.Receive(b, "answer", answer); err != nil {
			b.Fatal(err)
		}
		if end := s.End(b); end.Outcome != host.Success || len(s.Values()) != 1 {
			b.Fatalf("got %q and %+v, want the text and success", s.All(), end)
		}
	}
}

// BenchmarkChunk is a piece of text that the agent says, one of 100 in a turn.
func BenchmarkChunk(b *testing.B) {
	const n = 100
	f, a := open(b, whole, nil)
	b.ReportAllocs()
	for b.Loop() {
		s, answer := submit(context.Background(), a, "run the tests")
		prompt := f.Expect("session/prompt")
		for range n {
			f.chunk("a few words of text ")
		}
		f.stop(prompt, "end_turn")
		if err := hosttest.Receive(b, "answer", answer); err != nil {
			b.Fatal(err)
		}
		if s.End(b); len(s.Values()) != n {
			b.Fatalf("got %d pieces, want %d", len(s.Values()), n)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/piece")
}
