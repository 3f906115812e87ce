package dispatch_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/dispatch"
)

// owing returns a buffered world with a session that owes depth messages.
func owing(b *testing.B, depth int) *world {
	w := &world{t: b, dir: b.TempDir(), agent: &agent{}, buffered: true}
	w.reopen(dispatch.Options{})
	w.create("s1")
	for range depth {
		w.later("s1", "run the tests and say what failed")
	}
	return w
}

// BenchmarkAccept is a send that leaves the delivery to others.
func BenchmarkAccept(b *testing.B) {
	w := owing(b, 100)
	b.ReportAllocs()
	for b.Loop() {
		w.later("s1", "run the tests and say what failed")
	}
}

// BenchmarkAcceptKeyed is BenchmarkAccept with a new key each time.
func BenchmarkAcceptKeyed(b *testing.B) {
	w := owing(b, 100)
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		m := dispatch.Message{Text: "run the tests and say what failed", NoDrain: true, Key: strconv.Itoa(n)}
		_, err := w.SendText(b.Context(), "s1", m)
		must(b, err)
	}
}

// BenchmarkSendAndHandOver sends a message and hands the oldest one over, so that the
// depth stays.
func BenchmarkSendAndHandOver(b *testing.B) {
	for _, depth := range []int{0, 100, 10_000} {
		b.Run(fmt.Sprint("depth=", depth), func(b *testing.B) {
			w := owing(b, depth)
			b.ReportAllocs()
			for b.Loop() {
				once, enough := context.WithCancel(b.Context())
				w.agent.set(func(adapter.Prompt) error { enough(); return nil })
				_, err := w.SendText(once, "s1", dispatch.Message{Text: "run the tests and say what failed"})
				must(b, err)
			}
		})
	}
}

// BenchmarkDrain hands over 1,000 messages in one pass.
func BenchmarkDrain(b *testing.B) {
	const n = 1000
	w := owing(b, 0)
	var spent time.Duration
	for b.Loop() {
		b.StopTimer()
		for range n {
			w.later("s1", "run the tests and say what failed")
		}
		b.StartTimer()
		start := time.Now()
		done, err := w.Drain(b.Context(), "s1", dispatch.DrainOptions{})
		spent += time.Since(start)
		must(b, err)
		if len(done.Delivered) != n {
			b.Fatalf("got %d delivered, want %d", len(done.Delivered), n)
		}
	}
	b.ReportMetric(float64(spent.Nanoseconds())/float64(b.N*n), "ns/message")
}
