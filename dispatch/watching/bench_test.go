package watching_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/docket-go/docket/dispatch/watching"
)

// What a sweeper pays for each session that nobody watches.
func BenchmarkTellNobody(b *testing.B) {
	w := newWorld(b, "s1")
	w.tell("s1")
	for b.Loop() {
		w.tell("s1")
	}
}

func BenchmarkTellNothingNew(b *testing.B) {
	w := newWorld(b, "s1", "lead")
	w.watch("s1", "lead")
	w.declare("s1", "one")
	w.tell("s1")
	for b.Loop() {
		w.tell("s1")
	}
}

// Declarations with what follows them: one message to each watcher.
func BenchmarkDeclareAndTell(b *testing.B) {
	for _, watchers := range []int{0, 1, 10, 100} {
		for _, buffered := range []bool{false, true} {
			b.Run(fmt.Sprintf("watchers=%d/buffered=%v", watchers, buffered), func(b *testing.B) {
				w := newWorld(b)
				w.buffered = buffered
				w.start()
				w.create("s1")
				for i := range watchers {
					w.create(fmt.Sprint("lead-", i))
					w.watch("s1", fmt.Sprint("lead-", i))
				}
				n := 0
				for b.Loop() {
					n++
					w.declare("s1", fmt.Sprint(n))
					if told, err := w.w.Tell(b.Context(), "s1", watching.TellOptions{NoDrain: true}); err != nil || told.Messages != watchers {
						b.Fatal(told, err)
					}
				}
			})
		}
	}
}

func BenchmarkDeclareAndTellOfALongNote(b *testing.B) {
	w := newWorld(b, "s1", "lead")
	w.watch("s1", "lead")
	note := strings.Repeat("a line of a long note\n", 350_000)
	n := 0
	for b.Loop() {
		n++
		w.declare("s1", fmt.Sprint(n, note))
		w.tell("s1")
	}
}
