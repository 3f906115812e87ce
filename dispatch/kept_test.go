package dispatch_test

import (
	"context"
	"errors"
	"testing"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/lock"
)

// bufferedWorld is a world in which the pass behind a send begins in the send's hold
// of the record lock.
func bufferedWorld(t *testing.T) *world {
	w := &world{t: t, dir: t.TempDir(), agent: &agent{}, buffered: true}
	w.reopen(dispatch.Options{})
	w.create("s1")
	return w
}

// free fails unless the record lock of s1 can be had while what is at work goes on.
func (w *world) free(when string) {
	w.t.Helper()
	s, err := w.store.Open("s1")
	must(w.t, err)
	defer s.Release()
	held, err := s.Locks().Record(context.Background()) // which waits for a while, not for ever
	if err != nil {
		w.t.Fatalf("%s: the record lock: %v", when, err)
	}
	must(w.t, held.Release())
}

// However the pass behind a send goes, the record lock is free while the harness is
// asked and when the send returns.
func TestLockIsFreeAroundAPass(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer func(adapter.Prompt) error
		want   error // of the pass
	}{
		{"taken", func(adapter.Prompt) error { return nil }, nil},
		{"refused", busy, adapter.ErrBusy},
		{"unconfirmed", vague, adapter.ErrUnconfirmed},
		{"panic", func(adapter.Prompt) error { panic("insert") }, adapter.ErrUnconfirmed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := bufferedWorld(t)
			asked := 0
			w.agent.set(func(p adapter.Prompt) error {
				asked++
				w.free("inside Insert")
				return tt.answer(p)
			})
			a := w.send("s1", dispatch.Message{Text: "hello"})
			if asked != 1 || tt.want == nil != (a.Pass == nil) || !errors.Is(a.Pass, tt.want) {
				t.Fatalf("asked %d times, got %v, want %v", asked, a.Pass, tt.want)
			}
			w.free("after the send")
		})
	}
}

// The record lock is free as well behind a send whose pass hands over nothing, or
// that has none.
func TestLockIsFreeWithoutAnInsert(t *testing.T) {
	t.Run("another pass is at work", func(t *testing.T) {
		w := bufferedWorld(t)
		s, err := w.store.Open("s1")
		must(t, err)
		defer s.Release()
		pass, err := s.Locks().Delivery(t.Context())
		must(t, err)
		a := w.send("s1", dispatch.Message{Text: "hello"})
		wantIs(t, a.Pass, lock.ErrBusy)
		w.free("beside another pass")
		must(t, pass.Release())
		wantEqual(t, "owed", w.pending("s1"), []string{a.MID})
	})
	t.Run("no time for a pass", func(t *testing.T) {
		w := bufferedWorld(t)
		w.reopen(dispatch.Options{Budget: 1})
		a := w.send("s1", dispatch.Message{Text: "hello"})
		if a.Pass == nil || a.Delivered {
			t.Fatalf("got %+v, want that the budget is used up", a)
		}
		w.free("after the budget")
	})
	t.Run("called off", func(t *testing.T) {
		w := bufferedWorld(t)
		ctx, cancel := context.WithCancel(t.Context())
		at(t, "dispatch: owed", cancel)
		a, err := w.SendText(ctx, "s1", dispatch.Message{Text: "hello"})
		must(t, err)
		wantIs(t, a.Pass, context.Canceled)
		w.free("after the end of the context")
		wantEqual(t, "owed", w.pending("s1"), []string{a.MID})
	})
	t.Run("refused before anything is written", func(t *testing.T) {
		w := bufferedWorld(t)
		_, err := w.SendText(t.Context(), "s1", dispatch.Message{Text: "hello", Key: "k"})
		must(t, err)
		_, err = w.SendText(t.Context(), "s1", dispatch.Message{Text: "other", Key: "k"})
		wantIs(t, err, dispatch.ErrKeyReused)
		w.free("after a refusal")
		w.send("s1", dispatch.Message{Text: "hello", Key: "k"})
		w.free("after a repeated send")
	})
}

// Where nothing else is owed the pass behind a send has the delivery lock before the
// sync, and takes what is accepted meanwhile. Where something is, a person may be about
// to decide about it, and finds the lock free.
func TestPassOfALoneMessageBeginsBeforeTheSync(t *testing.T) {
	for _, owed := range []int{0, 1} {
		w := newWorld(t, "s1")
		var want []string
		for range owed {
			want = append(want, w.later("s1", "before"))
		}
		other := dispatch.New(w.store, dispatch.Options{Adapters: w.registry()})
		t.Cleanup(func() { other.Close() })
		var second dispatch.Accepted
		begun := false
		at(t, "dispatch: accepted, not synced", func() {
			begun = true
			var err error
			second, err = other.SendText(t.Context(), "s1", dispatch.Message{Text: "meanwhile"})
			must(t, err)
		})
		first := w.send("s1", dispatch.Message{Text: "alone"})
		want = append(want, first.MID)
		if begun != (owed == 0) || !first.Delivered {
			t.Fatalf("%d owed: begun before the sync %v, got %+v", owed, begun, first)
		}
		if begun {
			want = append(want, second.MID)
			wantIs(t, second.Pass, lock.ErrBusy)
		}
		wantEqual(t, "handed over", w.agent.mids(), want)
		wantEqual(t, "owed", w.pending("s1"), nil)
	}
}

// Another pass that has the lock at that moment keeps nobody from trying again.
func TestLoneMessageTriesAgainBehindTheSync(t *testing.T) {
	w := newWorld(t, "s1")
	s, err := w.store.Open("s1")
	must(t, err)
	defer s.Release()
	var pass *lock.Delivery
	at(t, "dispatch: owed", func() {
		pass, err = s.Locks().TryDelivery()
		must(t, err)
		at(t, "dispatch: accepted, not synced", func() { must(t, pass.Release()) })
	})
	if a := w.send("s1", dispatch.Message{Text: "hello"}); !a.Delivered || pass == nil {
		t.Errorf("got %+v, want it delivered behind the other pass", a)
	}
}
