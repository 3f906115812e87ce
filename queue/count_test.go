package queue_test

import (
	"context"
	"errors"
	"testing"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
)

// A handle that works alone never has to count the file again, so that no step of a
// send or of a hand-over grows with the depth.
func TestCountIsKept(t *testing.T) {
	d := newDesk(t, queue.Options{})
	d.enqueue("m1", "m2", "m3")
	pass, err := d.Locks().Delivery(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer pass.Release()
	for range 3 {
		once, enough := context.WithCancel(t.Context())
		got, err := d.Drain(once, pass, queue.Handover{
			Insert: func(context.Context, queue.Entry) (queue.Answer, error) {
				enough()
				return queue.Taken, nil
			},
		})
		if !errors.Is(err, context.Canceled) || len(got.MIDs) != 1 || got.Owed != 2 {
			t.Fatalf("got %+v, %v, want one handed over, two owed, and a pass that was called off", got, err)
		}
		// A send announces its change, writes its own line and enqueues then.
		d.must(func(held *lock.Record) error {
			e := entry("after " + got.MIDs[0])
			return errors.Join(d.Reserve(held, e), held.Begin(), d.Enqueue(held, e), held.Done())
		})
		if n := d.KnownCount(); n != 3 {
			t.Fatalf("got %d known to be owed, want 3", n)
		}
	}
}

// Who shares the hold may have removed the oldest entry, whether or not this handle
// has read it.
func TestCountWithAnotherHandle(t *testing.T) {
	for _, read := range []bool{true, false} {
		d := newDesk(t, queue.Options{MaxPending: 3})
		other := openDesk(t, d.dir, queue.Options{Locks: d.Locks()})
		defer other.Close()
		d.enqueue("m0", "m1", "m2")
		d.remove("m0")
		d.enqueue("m3")
		d.must(func(held *lock.Record) error {
			if _, _, err := other.Head(held); err != nil {
				return err
			}
			if read {
				if _, _, err := d.Head(held); err != nil {
					return err
				}
			}
			if err := d.Reserve(held, entry("m4")); !errors.Is(err, queue.ErrFull) {
				t.Errorf("got %v, want ErrFull", err)
			}
			if err := other.Remove(held, "m1"); err != nil {
				return err
			}
			return d.Enqueue(held, entry("m4"))
		})
	}
}

// Who does not ask for the number of what is left gets none.
func TestUncounted(t *testing.T) {
	d := newDesk(t, queue.Options{})
	d.enqueue("m1", "m2")
	for _, uncounted := range []bool{false, true} {
		got, err := d.drain(queue.Handover{
			Uncounted: uncounted,
			Insert:    func(context.Context, queue.Entry) (queue.Answer, error) { return queue.Refused, errBusy },
		})
		want := 2
		if uncounted {
			want = 0
		}
		if !errors.Is(err, errBusy) || got.Owed != want {
			t.Fatalf("uncounted %t: got %d owed, %v, want %d and the refusal", uncounted, got.Owed, err, want)
		}
	}
}
