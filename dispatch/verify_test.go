package dispatch_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/lock/step"
	"github.com/docket-go/docket/queue"
	"github.com/docket-go/docket/timeline"
)

// beside is what another process has of the same store.
func (w *world) beside(o dispatch.Options) *dispatch.Dispatcher {
	o.Adapters = w.registry()
	d := dispatch.New(w.store, o)
	w.t.Cleanup(func() { d.Close() })
	return d
}

// comparing runs do for each part of a queue that Disagreements has read.
func comparing(t *testing.T, do func(nth int)) {
	nth := 0
	t.Cleanup(step.Hook(func(at string) {
		if at == "dispatch: part of the queue compared" {
			nth++
			do(nth)
		}
	}))
}

// While queue and timeline are compared, others accept messages, hand them over and take
// them back. Nobody waits, and nothing that changed meanwhile is taken for wrong.
func TestDisagreementsKeepNobodyOut(t *testing.T) {
	w := newWorld(t, "s1")
	dispatch.SetWindow(w.Dispatcher, 1)
	ctx, other, long := t.Context(), w.beside(dispatch.Options{}), strings.Repeat("long ", 2000)
	w.agent.set(busy)
	for range 40 { // more than is read at once
		w.later("s1", long)
	}
	comparing(t, func(nth int) {
		last, err := other.SendText(ctx, "s1", dispatch.Message{Text: long, NoDrain: true})
		must(t, err)
		if nth%2 == 0 {
			must(t, other.Revoke(ctx, "s1", last.MID))
			return
		}
		w.take(30)
		_, err = other.Drain(ctx, "s1", dispatch.DrainOptions{})
		if err != nil {
			wantIs(t, err, adapter.ErrBusy)
		}
	})
	for range 3 {
		if wrong, err := w.Disagreements(ctx, "s1"); err != nil || len(wrong) > 0 {
			t.Fatalf("got %v, %v, want no disagreement", wrong, err)
		}
	}
	if got, sent := w.agent.mids(), w.sent("s1"); len(got) < 40 || !inSequence(got, sent) {
		t.Fatalf("got %d of %d messages handed over, want the first forty and more, in order", len(got), len(sent))
	}
}

// take lets the agent take so many messages, and no more.
func (w *world) take(n int) {
	w.agent.set(func(adapter.Prompt) error {
		if n--; n < 0 {
			return adapter.ErrBusy
		}
		return nil
	})
}

// What is wrong for good is named while others are at work.
func TestDisagreementsAreFoundBesideSenders(t *testing.T) {
	w := newWorld(t, "s1")
	ctx := t.Context()
	w.agent.set(busy)
	var mids []string
	for range 7 {
		mids = append(mids, w.later("s1", "one of seven"))
	}
	w.reorder("s1", func(all []queue.Entry) []queue.Entry {
		altered, doubled, unknown := all[1], all[2], all[0]
		altered.Text, unknown.MID = "one of eight", "of nobody"
		return []queue.Entry{altered, doubled, doubled, all[4], all[3], all[5], unknown, all[6]}
	})
	ended := mids[5]
	must(t, w.end("s1", ended))

	want := map[string]error{
		mids[0]: dispatch.ErrForgotten, mids[1]: dispatch.ErrAltered, mids[2]: dispatch.ErrDoubled,
		mids[3]: dispatch.ErrOvertaken, ended: dispatch.ErrEnded, "of nobody": dispatch.ErrUnrecorded,
	}
	other := w.beside(dispatch.Options{})
	comparing(t, func(int) {
		a, err := other.SendText(ctx, "s1", dispatch.Message{Text: "meanwhile", NoDrain: true})
		must(t, errors.Join(err, other.Revoke(ctx, "s1", a.MID)))
	})
	wrong, err := w.Disagreements(ctx, "s1")
	must(t, err)
	for _, d := range wrong {
		if !errors.Is(d, want[d.MID]) {
			t.Errorf("got %v, want %v", d, want[d.MID])
		}
		delete(want, d.MID)
	}
	if len(want) > 0 || len(wrong) != 6 {
		t.Errorf("got %v, want also %v", wrong, want)
	}
}

// reorder replaces what the queue holds.
func (w *world) reorder(id string, change func([]queue.Entry) []queue.Entry) {
	w.t.Helper()
	s, err := w.store.Open(id)
	must(w.t, err)
	defer s.Release()
	q, err := queue.Open(s.Dir(), queue.Options{Locks: s.Locks()})
	must(w.t, err)
	defer q.Close()
	held, err := s.Locks().Record(w.t.Context())
	must(w.t, err)
	defer held.Release()
	all, err := q.List()
	must(w.t, err)
	_, err = q.Rebuild(held, change(slices.Clone(all)))
	must(w.t, err)
}

// end proves the end of a message and leaves it in the queue.
func (w *world) end(id, mid string) error {
	s, err := w.store.Open(id)
	if err != nil {
		return err
	}
	defer s.Release()
	held, err := s.Locks().Record(w.t.Context())
	if err != nil {
		return err
	}
	defer held.Release()
	_, err = s.Timeline().Write(held, timeline.Settled{Time: time.Now(), MID: mid})
	return err
}
