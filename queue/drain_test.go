package queue_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
)

var errBusy = errors.New("the agent is busy")

// An agent answers hand-overs and remembers what it got.
type agent struct {
	handed  []string
	settled []string
	answer  func(mid string) (queue.Answer, error)
}

func (a *agent) handover() queue.Handover {
	return queue.Handover{
		Insert: func(_ context.Context, e queue.Entry) (queue.Answer, error) {
			answer, err := queue.Taken, error(nil)
			if a.answer != nil {
				answer, err = a.answer(e.MID)
			}
			if answer == queue.Taken {
				a.handed = append(a.handed, e.MID)
			}
			return answer, err
		},
		Settle: func(_ context.Context, _ *lock.Record, e queue.Entry) error {
			a.settled = append(a.settled, e.MID)
			return nil
		},
	}
}

func TestDrain(t *testing.T) {
	at := func(stop string, a queue.Answer, err error) func(string) (queue.Answer, error) {
		return func(mid string) (queue.Answer, error) {
			if mid == stop {
				return a, err
			}
			return queue.Taken, nil
		}
	}
	for _, tt := range []struct {
		name        string
		answer      func(string) (queue.Answer, error)
		handed      []string
		left        []string
		answered    queue.Answer
		unconfirmed bool
	}{
		{"accepts all", nil, []string{"a", "b", "c"}, nil, 0, false},
		// c must not overtake b.
		{"refuses the middle", at("b", queue.Refused, errBusy), []string{"a"}, []string{"b", "c"}, queue.Refused, false},
		{"refuses without reason", at("a", queue.Refused, nil), nil, []string{"a", "b", "c"}, queue.Refused, false},
		{"proves nothing", at("b", queue.Unconfirmed, errBusy), []string{"a"}, []string{"b", "c"}, queue.Unconfirmed, true},
		{"proves nothing, without reason", at("b", queue.Unconfirmed, nil), []string{"a"}, []string{"b", "c"}, queue.Unconfirmed, true},
		{"answers something else", at("b", 17, nil), []string{"a"}, []string{"b", "c"}, queue.Unconfirmed, true},
		// The safe side of a contradiction.
		{"takes with an error", at("c", queue.Taken, errBusy), []string{"a", "b", "c"}, []string{"c"}, queue.Unconfirmed, true},
		{"panics", func(mid string) (queue.Answer, error) { panic("boom " + mid) }, nil, []string{"a", "b", "c"}, queue.Unconfirmed, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t, queue.Options{})
			d.enqueue("a", "b", "c")
			a := &agent{answer: tt.answer}
			got, err := d.drain(a.handover())
			equal(t, "handed", a.handed, tt.handed)
			equal(t, "left", d.list(), tt.left)
			d.atRest(tt.left)
			equal(t, "settled", a.settled, got.MIDs)
			if got.Owed != len(tt.left) {
				t.Errorf("owed: got %d, want %d", got.Owed, len(tt.left))
			}
			if len(tt.left) == 0 {
				if err != nil {
					t.Errorf("got error %v, want none", err)
				}
				return
			}
			var stopped *queue.StoppedError
			if !errors.As(err, &stopped) || stopped.MID != tt.left[0] || stopped.Answer != tt.answered {
				t.Fatalf("got error %v, want a stop at %s: %s", err, tt.left[0], tt.answered)
			}
			e := d.head()
			if e.Attempts != 1 || e.LastError == "" || e.LastAttempt.IsZero() || e.Unconfirmed() != tt.unconfirmed {
				t.Errorf("noted: got %+v, want one attempt with a reason, unconfirmed %v", e, tt.unconfirmed)
			}
		})
	}
}

func TestUnconfirmedIsNotHandedOverByItself(t *testing.T) {
	d := newDesk(t, queue.Options{})
	d.enqueue("a", "b")
	d.must(func(held *lock.Record) error { return d.Claim(held, "a") })
	a := &agent{}
	if _, err := d.drain(a.handover()); !errors.Is(err, queue.ErrUnconfirmed) {
		t.Fatalf("got %v, want ErrUnconfirmed", err)
	}
	equal(t, "handed", a.handed, nil)
	if e := d.head(); !e.Unconfirmed() || e.Attempts != 1 {
		t.Fatalf("got %+v, want it unconfirmed after one attempt", e)
	}
	d.must(func(held *lock.Record) error { return d.Unclaim(held, "a") })
	if _, err := d.drain(a.handover()); err != nil {
		t.Fatal(err)
	}
	equal(t, "handed", a.handed, []string{"a", "b"})
}

// A pass that could hand nothing over claims nothing.
func TestDrainNeedsInsert(t *testing.T) {
	d := newDesk(t, queue.Options{})
	d.enqueue("a")
	if _, err := d.drain(queue.Handover{}); err == nil {
		t.Error("got no error without Insert")
	}
	if e := d.head(); e.MID != "a" || e.Unconfirmed() || e.Attempts != 0 {
		t.Errorf("got %+v, want it as it was", e)
	}
}

func TestUseAfterClose(t *testing.T) {
	d := newDesk(t, queue.Options{})
	for _, mid := range []string{"a", "b"} {
		d.enqueue(mid)
		for range 2 {
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
		}
		a := &agent{}
		if _, err := d.drain(a.handover()); err != nil {
			t.Fatal(err)
		}
		equal(t, "handed", a.handed, []string{mid})
	}
}

func TestReady(t *testing.T) {
	for _, tt := range []struct {
		name    string
		claimed bool
		verdict queue.Verdict
		err     error
		handed  []string
		settled []string
		dropped []string
		left    []string
		answer  queue.Answer
	}{
		{"hand", false, queue.Hand, nil, []string{"a"}, []string{"a"}, nil, nil, 0},
		{"hand over again", true, queue.Hand, nil, []string{"a"}, []string{"a"}, nil, nil, 0},
		{"proven", true, queue.Settle, nil, nil, []string{"a"}, nil, nil, 0},
		{"void", false, queue.Drop, nil, nil, nil, []string{"a"}, nil, 0},
		{"not ready", false, queue.Hand, errBusy, nil, nil, nil, []string{"a"}, queue.Refused},
		{"held", true, queue.Hand, errBusy, nil, nil, nil, []string{"a"}, queue.Unconfirmed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t, queue.Options{})
			d.enqueue("a")
			if tt.claimed {
				d.must(func(held *lock.Record) error { return d.Claim(held, "a") })
			}
			a, dropped := &agent{}, []string(nil)
			h := a.handover()
			h.Ready = func(context.Context, queue.Entry) (queue.Verdict, error) { return tt.verdict, tt.err }
			h.Drop = func(_ context.Context, _ *lock.Record, e queue.Entry) error {
				dropped = append(dropped, e.MID)
				return nil
			}
			_, err := d.drain(h)
			equal(t, "handed", a.handed, tt.handed)
			equal(t, "settled", a.settled, tt.settled)
			equal(t, "dropped", dropped, tt.dropped)
			d.atRest(tt.left)
			var stopped *queue.StoppedError
			if errors.As(err, &stopped) != (tt.left != nil) || stopped != nil && stopped.Answer != tt.answer {
				t.Fatalf("got %v, want a stop: %v, %s", err, tt.left != nil, tt.answer)
			}
			if tt.left != nil && d.head().Unconfirmed() != tt.claimed {
				t.Fatalf("claimed: got %v, want %v", !tt.claimed, tt.claimed)
			}
		})
	}
}

// What Ready found out about an entry says nothing about another one.
func TestHeadChangesDuringReady(t *testing.T) {
	d := newDesk(t, queue.Options{})
	d.enqueue("a", "b", "c")
	a, asked := &agent{}, []string(nil)
	h := a.handover()
	h.Ready = func(_ context.Context, e queue.Entry) (queue.Verdict, error) {
		asked = append(asked, e.MID)
		switch e.MID {
		case "a":
			d.remove("a")
			return queue.Settle, nil
		case "b":
			d.remove("b")
		}
		return queue.Hand, nil
	}
	got, err := d.drain(h)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "asked", asked, []string{"a", "b", "c"})
	equal(t, "handed", a.handed, []string{"c"})
	equal(t, "settled", a.settled, []string{"c"})
	equal(t, "delivered", got.MIDs, []string{"c"})
}

func TestCheckIsAskedAgainAfterAChange(t *testing.T) {
	d := newDesk(t, queue.Options{})
	d.enqueue("a")
	a, checks := &agent{}, 0
	h := a.handover()
	h.Check = func(context.Context, *lock.Record, queue.Entry) (queue.Verdict, error) {
		if checks++; checks == 2 {
			return queue.Drop, nil
		}
		return queue.Hand, nil
	}
	h.Ready = func(context.Context, queue.Entry) (queue.Verdict, error) {
		d.enqueue("b")
		return queue.Hand, nil
	}
	h.Before = func(context.Context) error {
		if checks > 0 {
			return errBusy
		}
		return nil
	}
	if got, err := d.drain(h); err != errBusy || got.Owed != 1 {
		t.Fatalf("got %+v, %v, want the error of Before and one owed", got, err)
	}
	equal(t, "handed", a.handed, nil)
	d.atRest([]string{"b"})
}

func TestRemovedWhileHandedOver(t *testing.T) {
	for _, answer := range []queue.Answer{queue.Taken, queue.Refused, queue.Unconfirmed} {
		t.Run(answer.String(), func(t *testing.T) {
			d := newDesk(t, queue.Options{})
			d.enqueue("a")
			var late []string
			a := &agent{answer: func(mid string) (queue.Answer, error) {
				d.remove(mid)
				if answer == queue.Taken {
					return answer, nil
				}
				return answer, errBusy
			}}
			h := a.handover()
			h.Late = func(_ context.Context, _ *lock.Record, e queue.Entry) error {
				late = append(late, e.MID)
				return nil
			}
			_, err := d.drain(h)
			if (err != nil) != (answer != queue.Taken) {
				t.Fatalf("got error %v", err)
			}
			equal(t, "settled", a.settled, nil)
			equal(t, "late", late, a.handed)
			d.atRest(nil)
		})
	}
}

// The books are kept even if the caller's time is over.
func TestCancelledInsert(t *testing.T) {
	d := newDesk(t, queue.Options{})
	d.enqueue("a", "b")
	ctx, cancel := context.WithCancel(t.Context())
	a := &agent{answer: func(string) (queue.Answer, error) { cancel(); return queue.Taken, nil }}
	held, err := d.Locks().Delivery(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	if _, err := d.Drain(ctx, held, a.handover()); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want context.Canceled", err)
	}
	equal(t, "settled", a.settled, []string{"a"})
	d.atRest([]string{"b"})
	if e := d.head(); e.Attempts != 0 {
		t.Fatalf("got %+v, want no attempt", e)
	}
}

func TestFailedSettleLeavesUnconfirmed(t *testing.T) {
	d := newDesk(t, queue.Options{})
	d.enqueue("a")
	d.must((*lock.Record).Recovered)
	h := (&agent{}).handover()
	h.Settle = func(context.Context, *lock.Record, queue.Entry) error { return errBusy }
	got, err := d.drain(h)
	var stopped *queue.StoppedError
	if !errors.As(err, &stopped) || stopped.Answer != queue.Taken || !errors.Is(err, errBusy) || len(got.MIDs) != 0 {
		t.Fatalf("got %+v, %v, want a stop after it was taken", got, err)
	}
	if e := d.head(); !e.Unconfirmed() || e.Attempts != 1 {
		t.Fatalf("got %+v, want it unconfirmed", e)
	}
	d.must(func(held *lock.Record) error {
		if !held.Interrupted() {
			return errors.New("the next holder does not know of the unfinished change")
		}
		return nil
	})
}

func TestPanicUnderTheLockFreesIt(t *testing.T) {
	d := newDesk(t, queue.Options{})
	d.enqueue("a")
	h := (&agent{}).handover()
	h.Check = func(context.Context, *lock.Record, queue.Entry) (queue.Verdict, error) { panic("boom") }
	func() {
		defer func() { recover() }()
		d.drain(h)
	}()
	d.atRest([]string{"a"})
	d.enqueue("b")
}

func TestReadyPanicIsARefusal(t *testing.T) {
	d := newDesk(t, queue.Options{})
	d.enqueue("a")
	h := (&agent{}).handover()
	h.Ready = func(context.Context, queue.Entry) (queue.Verdict, error) { panic("boom") }
	var stopped *queue.StoppedError
	if _, err := d.drain(h); !errors.As(err, &stopped) || stopped.Answer != queue.Refused {
		t.Fatalf("got %v, want a refusal", err)
	}
}

func TestDrainNeedsTheDeliveryLock(t *testing.T) {
	d := newDesk(t, queue.Options{})
	if _, err := d.Drain(t.Context(), nil, queue.Handover{}); !errors.Is(err, lock.ErrNotHeld) {
		t.Fatalf("got %v, want ErrNotHeld", err)
	}
}

// What is enqueued by the insert itself is part of the pass.
func TestEnqueueDuringInsert(t *testing.T) {
	d := newDesk(t, queue.Options{})
	d.enqueue("m0")
	n := 0
	a := &agent{answer: func(string) (queue.Answer, error) {
		if n++; n < 5 {
			d.enqueue(fmt.Sprintf("m%d", n))
		}
		return queue.Taken, nil
	}}
	if _, err := d.drain(a.handover()); err != nil {
		t.Fatal(err)
	}
	equal(t, "handed", a.handed, []string{"m0", "m1", "m2", "m3", "m4"})
	d.atRest(nil)
}
