package dispatch_test

import (
	"os"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/timeline/session"
)

// What was accepted for later is delivered as behind a send: at once, and only by one.
func TestDeliver(t *testing.T) {
	w := newWorld(t, "s1")
	want := []string{w.later("s1", "one"), w.later("s1", "two")}
	s, err := w.store.Open("s1")
	must(t, err)
	defer s.Release()
	held, err := s.Locks().TryDelivery()
	must(t, err)
	wantIs(t, w.Deliver(t.Context(), "s1"), lock.ErrBusy)
	must(t, held.Release())
	wantEqual(t, "while another pass is at work", w.agent.mids(), nil)

	w.agent.set(busy)
	wantIs(t, w.Deliver(t.Context(), "s1"), adapter.ErrBusy)
	w.agent.set(nil)
	must(t, w.Deliver(t.Context(), "s1"))
	wantEqual(t, "delivered", w.agent.mids(), want)
	must(t, w.Deliver(t.Context(), "s1"))
	wantIs(t, w.Deliver(t.Context(), "nobody"), session.ErrNotFound)
}

func TestDeliverKeepsToItsBudget(t *testing.T) {
	w := newWorld(t, "s1")
	now := time.Now()
	w.reopen(dispatch.Options{Budget: time.Minute, Now: func() time.Time { return now }})
	w.later("s1", "one")
	w.later("s1", "two")
	w.agent.set(func(adapter.Prompt) error { now = now.Add(time.Hour); return nil })
	if err := w.Deliver(t.Context(), "s1"); err == nil || len(w.agent.mids()) != 1 {
		t.Errorf("got %v and %d delivered, want one, and the rest left to the next pass", err, len(w.agent.mids()))
	}
}

// What is said about a session is owed although that is closed, also once the queue
// was rebuilt; what the session said itself is void.
func TestMessageThatOutlivesItsSender(t *testing.T) {
	for _, key := range []string{"", "k"} {
		w := newWorld(t, "s1", "lead")
		w.send("lead", dispatch.Message{Text: "of itself", From: "s1", NoDrain: true})
		about := w.send("lead", dispatch.Message{Text: "about it", From: "s1", Key: key, NoDrain: true, Outlives: true})
		s, err := w.store.Open("s1")
		must(t, err)
		must(t, s.Close(t.Context()))
		must(t, s.Release())
		_, err = w.SendText(t.Context(), "lead", dispatch.Message{Text: "later", From: "s1", Outlives: true})
		wantIs(t, err, dispatch.ErrSenderClosed)
		must(t, os.WriteFile(w.path("lead", "pending.json"), []byte("garbage"), 0o600))
		_, err = w.Repair(t.Context(), "lead")
		must(t, err)
		_, err = w.Drain(t.Context(), "lead", dispatch.DrainOptions{})
		must(t, err)
		wantEqual(t, "delivered", w.agent.mids(), []string{about.MID})
	}
}

// A message that is meant for one session does not reach a later one with its id.
func TestMessageToOneLife(t *testing.T) {
	w := newWorld(t, "s1")
	var first uint64
	a := w.send("s1", dispatch.Message{Text: "one", Key: "k", ToLife: &first, NoDrain: true})
	if again := w.send("s1", dispatch.Message{Text: "one", Key: "k", ToLife: &first, NoDrain: true}); again.MID != a.MID {
		t.Errorf("got %+v, want %+v", again, a)
	}
	s, err := w.store.Open("s1")
	must(t, err)
	must(t, s.Close(t.Context()))
	must(t, s.Release())
	w.create("s1")
	_, err = w.SendText(t.Context(), "s1", dispatch.Message{Text: "two", ToLife: &first})
	wantIs(t, err, session.ErrNotFound)
	wantEqual(t, "sent", w.sent("s1"), nil)
	second := first + 1
	w.send("s1", dispatch.Message{Text: "two", ToLife: &second})
}
