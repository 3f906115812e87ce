package turn_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"testing"

	"github.com/docket-go/docket/timeline/turn"
)

// Producers, facts, followers and the end of the turn, all at once and synced: every
// event that was acknowledged before the end is in the log, in one order that all
// readers see, and what came after it is refused.
func TestProducersAtOnce(t *testing.T) {
	const producers, each = 6, 20
	dir := newDir(t)
	w := open(t, dir, func(o *turn.Options) { o.Buffered, o.SegmentBytes = false, 4000 })
	tn := start(t, w, turn.Started{})
	followed := make(chan int, 2)
	for _, l := range []*turn.Log{w.Log(), read(t, dir)} {
		updates := l.Follow(t.Context(), cursor(t, l.Start))
		go func() { followed <- countToTheEnd(t, updates) }()
	}
	var mu sync.Mutex
	acked := map[uint64]string{}
	var all sync.WaitGroup
	for p := range producers {
		all.Go(func() {
			for i := range each {
				text := fmt.Sprintf("%d.%d", p, i)
				e, err := tn.Emit(context.Background(), none, turn.Text{Text: text})
				if errors.Is(err, turn.ErrFinished) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				acked[e.Seq] = text
				n := len(acked)
				mu.Unlock()
				if n == producers*each*2/3 {
					if _, err := tn.Finish(context.Background(), none, success); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	all.Wait()
	events := history(t, dir)
	last := len(events) - 1
	if events[last].Payload != success {
		t.Fatalf("the log ends with %+v, want the terminal", events[last])
	}
	for _, e := range events[1:last] {
		if acked[e.Seq] != e.Payload.(turn.Text).Text {
			t.Errorf("event %d is %+v, and %q was acknowledged", e.Seq, e.Payload, acked[e.Seq])
		}
		delete(acked, e.Seq)
	}
	if len(acked) > 0 {
		t.Errorf("acknowledged, and not in the log: %v", acked)
	}
	for range 2 {
		if n := <-followed; n != len(events) {
			t.Errorf("a follower saw %d events, want %d", n, len(events))
		}
	}
}

// countToTheEnd returns how many events a follower saw until the turn finished.
func countToTheEnd(t *testing.T, updates iter.Seq2[turn.Update, error]) (n int) {
	for u, err := range updates {
		switch {
		case err != nil:
			t.Error(err)
			return n
		case u.CaughtUp:
		case u.Event.Seq != uint64(n):
			t.Errorf("got event %d, want %d", u.Event.Seq, n)
			return n
		default:
			n++
		}
		if !u.CaughtUp && u.Event.Kind() == turn.KindFinished {
			break
		}
	}
	return n
}

// Close may come at any moment: who is cut off is told, and nothing is half there.
func TestCloseBesideProducers(t *testing.T) {
	for range 10 {
		dir := newDir(t)
		w := open(t, dir)
		tn := start(t, w, turn.Started{})
		var all sync.WaitGroup
		acked := make([]int, 4)
		for p := range acked {
			all.Go(func() {
				for {
					_, err := tn.Emit(context.Background(), none, turn.Text{Text: "x"})
					if errors.Is(err, turn.ErrWriterClosed) {
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
					acked[p]++
				}
			})
		}
		eventually(t, "some events", func() bool { return len(history(t, dir)) > 20 })
		closeWriter(t, w)
		all.Wait()
		total := 1
		for _, n := range acked {
			total += n
		}
		if n := len(history(t, dir)); n != total {
			t.Fatalf("got %d events, %d were acknowledged", n, total)
		}
		next := open(t, dir)
		if _, ok := next.Active(); !ok {
			t.Fatal("the turn is not open")
		}
		closeWriter(t, next)
	}
}

// What a turn's producer publishes is the session's, and counts for the turn's broker
// sequence; see TestReplayedEmissionsAreKnown.
func TestPublishOnATurn(t *testing.T) {
	dir := newDir(t)
	w := open(t, dir)
	tn := start(t, w, turn.Started{})
	mode := turn.State{Name: "mode", Value: "plan"}
	e, err := tn.Publish(t.Context(), turn.Native{Broker: 2}, mode)
	if err != nil || e.Turn != "" || e.TurnNumber() != 0 {
		t.Fatalf("got %+v, %v, want an event of the session", e, err)
	}
	if _, err := tn.Publish(t.Context(), turn.Native{Broker: 2}, mode); !errors.Is(err, turn.ErrReplayed) {
		t.Errorf("got %v, want %v", err, turn.ErrReplayed)
	}
	if _, err := w.Publish(t.Context(), turn.Native{Broker: 3}, mode); !errors.Is(err, turn.ErrEvent) {
		t.Errorf("got %v, want %v for a broker sequence of no turn", err, turn.ErrEvent)
	}
	closeWriter(t, w)
	w = open(t, dir)
	if tn, _ = w.Active(); tn.Broker() != 2 || w.State()["mode"] != "plan" {
		t.Errorf("got broker sequence %d and %v, want 2 and the mode", tn.Broker(), w.State())
	}
	finish(t, tn, success)
	if _, err := tn.Publish(t.Context(), turn.Native{Broker: 3}, mode); !errors.Is(err, turn.ErrFinished) {
		t.Errorf("got %v, want %v", err, turn.ErrFinished)
	}
}

// The end of the log is read from the end: the last events, and whether a turn is open.
func TestRecentAndLatest(t *testing.T) {
	dir := newDir(t)
	w := open(t, dir, func(o *turn.Options) { o.SegmentBytes = 500 })
	for _, l := range []*turn.Log{w.Log(), read(t, dir)} {
		if _, ok, err := l.Latest(t.Context()); ok || err != nil {
			t.Errorf("got %v, %v, want no turn yet", ok, err)
		}
		if events, _, err := l.Recent(t.Context(), 3); len(events) != 0 || err != nil {
			t.Errorf("got %q, %v, want none yet", brief(events), err)
		}
	}
	for range 5 {
		tn := start(t, w, turn.Started{Token: "secret"})
		finish(t, tn, success)
	}
	open := start(t, w, turn.Started{Token: "secret"})
	if _, err := w.Publish(t.Context(), none, turn.State{Name: "n"}); err != nil {
		t.Fatal(err)
	}
	all := history(t, dir)
	for _, l := range []*turn.Log{w.Log(), read(t, dir)} {
		if e, ok, err := l.Latest(t.Context()); !ok || err != nil || e.Turn != open.ID() || e.Kind() == turn.KindFinished {
			t.Errorf("got %+v, %v, %v, want the open turn", e, ok, err)
		}
		for _, n := range []int{-1, 0, 1, 4, len(all), len(all) + 1} {
			events, next, err := l.Recent(t.Context(), n)
			want := all[len(all)-max(0, min(n, len(all))):]
			if err != nil || fmt.Sprint(events) != fmt.Sprint(want) || next != cursor(t, l.End) {
				t.Errorf("the last %d: got %q, %v, want %q", n, brief(events), err, brief(want))
			}
		}
	}
}
