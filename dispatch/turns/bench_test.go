//go:build linux || darwin

package turns_test

import (
	"context"
	"testing"

	"github.com/docket-go/docket/dispatch/turns"
	"github.com/docket-go/docket/timeline/turn"
)

// BenchmarkTurn is the time from a send to the recorded end of its turn, with an agent
// that answers at once.
func BenchmarkTurn(b *testing.B) {
	w, agent := newWorld(b), newFake()
	ends := make(chan string, 1)
	w.serve(only(agent))
	w.record(func(o *turns.Options) {
		o.Turns.Barrier = func(_ context.Context, e turn.Event) error {
			end, _ := e.Payload.(turn.Finished)
			ends <- end.String()
			return nil
		}
	})
	w.idle()
	b.ReportAllocs()
	for b.Loop() {
		w.send("run the tests")
		if end := receive(b, ends); end != "success" {
			b.Fatalf("got %s, want success", end)
		}
	}
	if got := len(agent.got()); got != b.N {
		b.Fatalf("got %d prompts at the agent, want %d", got, b.N)
	}
}
