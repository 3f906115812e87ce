package queue_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
)

// A pass closes the books of one entry and opens those of the next in one hold of the
// record lock, which is free whenever the harness is asked.
func TestHoldsOfAPass(t *testing.T) {
	for _, tt := range []struct {
		name  string
		ready bool
		quiet bool // Ready has nothing to do
		want  int  // holds for three entries
		asked int
	}{
		{"without Ready", false, false, 4, 0},
		{"with Ready", true, false, 7, 3},
		{"with a Ready that has nothing to do", true, true, 4, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t, queue.Options{})
			d.enqueue("a", "b", "c")
			holds, asked := 0, 0
			a := &agent{answer: func(mid string) (queue.Answer, error) {
				if e := d.head(); e.MID != mid || !e.Unconfirmed() {
					t.Errorf("%s is handed over, and the head is %+v, want its claim", mid, e)
				}
				return queue.Taken, nil
			}}
			h := a.handover()
			h.Lock = func(ctx context.Context) (*lock.Record, error) {
				holds++
				return d.Locks().Record(ctx)
			}
			if tt.ready {
				h.Ready = func(context.Context, queue.Entry) (queue.Verdict, error) {
					asked++
					d.must(func(*lock.Record) error { return nil }) // the lock is free
					return queue.Hand, nil
				}
				h.Unasked = func(queue.Entry) bool { return tt.quiet }
			}
			if got, err := d.drain(h); err != nil || len(got.MIDs) != 3 {
				t.Fatalf("got %+v, %v, want three handed over", got, err)
			}
			if holds != tt.want || asked != tt.asked {
				t.Errorf("got %d holds and Ready asked %d times, want %d and %d", holds, asked, tt.want, tt.asked)
			}
			d.atRest(nil)
		})
	}
}

// An entry that is unconfirmed is looked up whatever Unasked says.
func TestUnconfirmedIsAlwaysAsked(t *testing.T) {
	d := newDesk(t, queue.Options{})
	d.enqueue("a", "b")
	d.must(func(held *lock.Record) error { return d.Claim(held, "a") })
	a, asked := &agent{}, []string(nil)
	h := a.handover()
	h.Unasked = func(queue.Entry) bool { return true }
	h.Ready = func(_ context.Context, e queue.Entry) (queue.Verdict, error) {
		asked = append(asked, e.MID)
		return queue.Settle, nil
	}
	if got, err := d.drain(h); err != nil || len(got.MIDs) != 2 {
		t.Fatalf("got %+v, %v, want both delivered", got, err)
	}
	equal(t, "asked", asked, []string{"a"})
	equal(t, "handed", a.handed, []string{"b"})
	equal(t, "settled", a.settled, []string{"a", "b"})
}

// The books of what was taken are closed even if Before panics behind it.
func TestBeforePanics(t *testing.T) {
	d := newDesk(t, queue.Options{})
	d.enqueue("a", "b")
	a := &agent{}
	h := a.handover()
	h.Before = func(context.Context) error {
		if len(a.handed) > 0 {
			panic("before")
		}
		return nil
	}
	func() {
		defer func() {
			if r := recover(); r != "before" {
				t.Errorf("got panic %v, want that of Before", r)
			}
		}()
		d.drain(h)
	}()
	equal(t, "settled", a.settled, []string{"a"})
	d.atRest([]string{"b"})
	if e := d.head(); e.Unconfirmed() {
		t.Errorf("got %+v, want no claim", e)
	}
}

// A pass that is called off ends before the next claim, and not before the books of
// what was taken are closed.
func TestCalledOffBetweenEntries(t *testing.T) {
	d := newDesk(t, queue.Options{})
	d.enqueue("a", "b")
	pass, err := d.Locks().Delivery(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer pass.Release()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	h := queue.Handover{
		Insert: func(context.Context, queue.Entry) (queue.Answer, error) { cancel(); return queue.Taken, nil },
	}
	got, err := d.Drain(ctx, pass, h)
	if !errors.Is(err, context.Canceled) || got.Owed != 1 {
		t.Fatalf("got %+v, %v, want one owed and the end of the context", got, err)
	}
	equal(t, "delivered", got.MIDs, []string{"a"})
	d.atRest([]string{"b"})
	if e := d.head(); e.Attempts != 0 || e.Unconfirmed() {
		t.Errorf("got %+v, want no attempt", e)
	}
}

// Over is called once, with the record lock held, and only if nothing is owed.
func TestOver(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer queue.Answer
		reason error
		over   error
		want   error
		calls  int
	}{
		{"nothing is owed", queue.Taken, nil, nil, nil, 1},
		{"it fails", queue.Taken, nil, errBusy, errBusy, 1},
		{"refused", queue.Refused, errBusy, nil, errBusy, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t, queue.Options{})
			d.enqueue("a", "b")
			calls := 0
			_, err := d.drain(queue.Handover{
				Insert: func(context.Context, queue.Entry) (queue.Answer, error) { return tt.answer, tt.reason },
				Over: func() error {
					calls++
					if owed, err := d.Owed(); owed || err != nil {
						t.Errorf("got %v, %v, want nothing owed", owed, err)
					}
					other, err := lock.Open(d.dir, lock.Options{Wait: time.Millisecond})
					if err == nil {
						defer other.Close()
						_, err = other.Record(t.Context())
					}
					if !errors.Is(err, lock.ErrTimeout) {
						t.Errorf("got %v, want the record lock held", err)
					}
					return tt.over
				},
			})
			if !errors.Is(err, tt.want) || tt.want == nil && err != nil || calls != tt.calls {
				t.Errorf("got %d calls and %v, want %d and %v", calls, err, tt.calls, tt.want)
			}
		})
	}
}
