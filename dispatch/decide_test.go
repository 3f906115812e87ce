package dispatch_test

import (
	"context"
	"testing"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/lock/step"
	"github.com/docket-go/docket/queue"
	"github.com/docket-go/docket/timeline/session"
)

// unconfirmed leaves one message unconfirmed and one behind it.
func unconfirmed(t *testing.T) (w *world, head, behind string) {
	w = newWorld(t, "s1")
	w.agent.set(vague)
	a := w.send("s1", dispatch.Message{Text: "did it arrive?"})
	wantIs(t, a.Pass, adapter.ErrUnconfirmed)
	behind = w.later("s1", "behind it")
	if c := w.condition("s1", a.MID); c != dispatch.Unconfirmed {
		t.Fatalf("got %s, want unconfirmed", c)
	}
	w.agent.set(nil)
	return w, a.MID, behind
}

func TestUnconfirmedIsHeldAndNotRepeated(t *testing.T) {
	w, head, behind := unconfirmed(t)
	for range 3 {
		_, err := w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
		wantIs(t, err, adapter.ErrUnconfirmed)
		wantIs(t, err, dispatch.ErrHeld)
	}
	// What the adapter said is what a person decides by.
	if s, err := w.State(t.Context(), "s1", head); err != nil || s.LastError != "the line went dead" || s.Attempts != 1 {
		t.Fatalf("got %+v, %v, want the first reason and no further attempt", s, err)
	}
	wantEqual(t, "agent", w.agent.mids(), nil)
	wantEqual(t, "owed", w.pending("s1"), []string{head, behind})
	if c := w.condition("s1", head); c != dispatch.Unconfirmed {
		t.Fatalf("got %s, want it still unconfirmed", c)
	}
}

func TestConfirmSettles(t *testing.T) {
	w, head, behind := unconfirmed(t)
	for range 2 { // the second time changes nothing
		s, err := w.Confirm(t.Context(), "s1", head, false)
		must(t, err)
		if s.Condition != dispatch.Delivered || s.EndedAt.IsZero() {
			t.Fatalf("got %+v, want delivered", s)
		}
	}
	_, err := w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
	must(t, err)
	wantEqual(t, "agent", w.agent.mids(), []string{behind})
}

func TestConfirmAbsentOwesAgain(t *testing.T) {
	w, head, behind := unconfirmed(t)
	s, err := w.Confirm(t.Context(), "s1", head, true)
	must(t, err)
	if s.Condition != dispatch.Owed {
		t.Fatalf("got %+v, want owed", s)
	}
	_, err = w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
	must(t, err)
	wantEqual(t, "agent", w.agent.mids(), []string{head, behind})
}

func TestConfirmRefuses(t *testing.T) {
	w, head, behind := unconfirmed(t)
	_, err := w.Confirm(t.Context(), "s1", behind, false)
	wantIs(t, err, dispatch.ErrNotUnconfirmed)
	_, err = w.Confirm(t.Context(), "s1", "no-such-mid", false)
	wantIs(t, err, dispatch.ErrNoMessage)
	_, err = w.Confirm(t.Context(), "s2", head, false)
	wantIs(t, err, session.ErrNotFound)
	must(t, w.Revoke(t.Context(), "s1", head))
	_, err = w.Confirm(t.Context(), "s1", head, false)
	wantIs(t, err, dispatch.ErrNotUnconfirmed)
}

// A Dispatcher that was closed opens what it needs anew.
func TestUseAfterClose(t *testing.T) {
	w := newWorld(t, "s1")
	for range 2 {
		w.send("s1", dispatch.Message{Text: "one"})
		must(t, w.Close())
		must(t, w.Close())
	}
	if got := len(w.agent.mids()); got != 2 {
		t.Errorf("got %d messages at the agent, want 2", got)
	}
}

func TestRedeliverRepeatsTheUnconfirmedOne(t *testing.T) {
	w, head, behind := unconfirmed(t)
	_, err := w.Drain(t.Context(), "s1", dispatch.DrainOptions{Redeliver: behind})
	wantIs(t, err, dispatch.ErrNotUnconfirmed)
	_, err = w.Drain(t.Context(), "s1", dispatch.DrainOptions{Redeliver: "no-such-mid"})
	wantIs(t, err, dispatch.ErrNoMessage)
	done, err := w.Drain(t.Context(), "s1", dispatch.DrainOptions{Redeliver: head})
	must(t, err)
	wantEqual(t, "delivered", done.Delivered, []string{head, behind})
}

// What can be looked up is never in doubt for long, and never repeated.
func TestLookupDecidesBeforeASecondInsert(t *testing.T) {
	w, head, behind := unconfirmed(t)
	w.agent.looks = func(string) adapter.Presence { return adapter.Present }
	done, err := w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
	must(t, err)
	wantEqual(t, "delivered", done.Delivered, []string{head, behind})
	wantEqual(t, "agent", w.agent.mids(), []string{behind})

	w, head, behind = unconfirmed(t)
	w.agent.looks = func(string) adapter.Presence { return adapter.Absent }
	_, err = w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
	must(t, err)
	wantEqual(t, "agent", w.agent.mids(), []string{head, behind})
}

func TestPolicyRedelivers(t *testing.T) {
	w, head, behind := unconfirmed(t)
	s, err := w.store.Open("s1")
	must(t, err)
	defer s.Release()
	must(t, s.Update(t.Context(), func(r *session.Record) error {
		r.Settings = map[string]string{adapter.PolicySetting: "redeliver"}
		return nil
	}))
	_, err = w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
	must(t, err)
	wantEqual(t, "agent", w.agent.mids(), []string{head, behind})
}

func TestRevoke(t *testing.T) {
	w, head, behind := unconfirmed(t)
	third := w.send("s1", dispatch.Message{Text: "third", From: "lead", NoDrain: true}).MID
	must(t, w.Revoke(t.Context(), "s1", behind))
	wantIs(t, w.Revoke(t.Context(), "s1", behind), queue.ErrNotPending)
	wantIs(t, w.Revoke(t.Context(), "s1", "no-such-mid"), dispatch.ErrNoMessage)
	must(t, w.Revoke(t.Context(), "s1", head))
	wantEqual(t, "owed", w.pending("s1"), []string{third})
	fourth := w.later("s1", "fourth")
	revoked, err := w.RevokeFrom(t.Context(), "s1", "lead")
	must(t, err)
	wantEqual(t, "revoked", revoked, []string{third})
	_, err = w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
	must(t, err)
	wantEqual(t, "agent", w.agent.mids(), []string{fourth})
	wantEqual(t, "timeline", w.sent("s1"), []string{head, behind, third, fourth}) // history is not edited
	for _, mid := range []string{head, behind, third} {
		if c := w.condition("s1", mid); c != dispatch.Revoked {
			t.Errorf("message %s: got %s, want revoked", mid, c)
		}
	}
}

// What is taken back in several changes is the same, in the same order.
func TestRevokeInGroups(t *testing.T) {
	for _, group := range []int{1, 2, 3, 4, 5} {
		w := newWorld(t, "s1")
		dispatch.SetGroup(w.Dispatcher, group)
		var chosen, others []string
		for i := range 8 {
			mid := w.send("s1", dispatch.Message{Text: "a text", From: []string{"lead", ""}[i%2], NoDrain: true}).MID
			if i%2 == 0 {
				chosen = append(chosen, mid)
			} else {
				others = append(others, mid)
			}
		}
		revoked, err := w.RevokeFrom(t.Context(), "s1", "lead")
		must(t, err)
		wantEqual(t, "revoked", revoked, chosen)
		wantEqual(t, "owed", w.pending("s1"), others)
	}
}

// Who gives up finds out what was taken back until then, and that stays so.
func TestRevokeInGroupsIsGivenUp(t *testing.T) {
	w := newWorld(t, "s1")
	var mids []string
	for range 7 {
		mids = append(mids, w.later("s1", "words"))
	}
	dispatch.SetGroup(w.Dispatcher, 2)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	changes := 0
	t.Cleanup(step.Hook(func(reached string) {
		if reached == "dispatch: end recorded" {
			if changes++; changes == 2 {
				stop()
			}
		}
	}))
	revoked, err := w.RevokeFrom(ctx, "s1", "")
	wantIs(t, err, context.Canceled)
	wantEqual(t, "revoked", revoked, mids[:4])
	wantEqual(t, "owed", w.pending("s1"), mids[4:])
	for _, mid := range revoked {
		if c := w.condition("s1", mid); c != dispatch.Revoked {
			t.Errorf("message %s: got %s, want revoked", mid, c)
		}
	}
}

// Of a queue that is damaged behind the first change nothing is taken back.
func TestRevokeInGroupsBeforeDamage(t *testing.T) {
	w := &deepWorld{world: newWorld(t, "s1")}
	for range 6 {
		w.mids = append(w.mids, w.later("s1", "words"))
	}
	w.spoil(w.mids[4])
	w.reopen(dispatch.Options{})
	dispatch.SetGroup(w.Dispatcher, 2)
	revoked, err := w.RevokeFrom(t.Context(), "s1", "")
	wantIs(t, err, queue.ErrCorrupt)
	wantEqual(t, "revoked", revoked, nil)
	_, err = w.Repair(t.Context(), "s1")
	must(t, err)
	wantEqual(t, "owed", w.pending("s1"), w.mids)
}

// While an insert is going on, a hook may confirm it and others may send; it can
// be neither revoked nor called absent.
func TestDecidingDuringAnInsert(t *testing.T) {
	w := newWorld(t, "s1")
	inside, leave := make(chan struct{}), make(chan struct{})
	w.agent.set(func(p adapter.Prompt) error {
		if p.Text == "slow" {
			close(inside)
			<-leave
		}
		return nil
	})
	slow := w.later("s1", "slow")
	passed := make(chan error, 1)
	go func() {
		_, err := w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
		passed <- err
	}()
	<-inside
	wantIs(t, w.Revoke(t.Context(), "s1", slow), dispatch.ErrInFlight)
	_, err := w.Confirm(t.Context(), "s1", slow, true)
	wantIs(t, err, dispatch.ErrInFlight)
	s, err := w.store.Open("s1")
	must(t, err)
	defer s.Release()
	if moved, err := s.Declare(t.Context(), session.Declaration{Status: session.StatusActive}); err != nil || !moved.Moved {
		t.Fatalf("got %+v, %v, want a declaration accepted during the insert", moved, err)
	}
	meanwhile := w.send("s1", dispatch.Message{Text: "meanwhile"})
	wantIs(t, meanwhile.Pass, lock.ErrBusy) // it is left to the pass that is at work
	confirmed, err := w.Confirm(t.Context(), "s1", slow, false)
	must(t, err)
	if confirmed.Condition != dispatch.Delivered {
		t.Fatalf("got %+v, want delivered", confirmed)
	}
	close(leave)
	must(t, <-passed)
	wantEqual(t, "agent", w.agent.mids(), []string{slow, meanwhile.MID})
	wantEqual(t, "owed", w.pending("s1"), nil)
}
