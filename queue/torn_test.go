package queue_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
)

// Each edit in place is cut at every byte. What is left must be told apart, must
// never read as less than it holds, and must be solved by the record alone.
func TestTornAtEveryByte(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(d *desk, b *book)
		kind queue.FaultKind
	}{
		{"enqueue", func(d *desk, b *book) { b.accept(d, "c") }, queue.TornTail},
		{"removal", func(d *desk, b *book) { b.end(d, "a") }, queue.TornHead},
	} {
		t.Run(tt.name, func(t *testing.T) {
			died := true
			for k := 0; died; k++ {
				d, b := newDesk(t, queue.Options{}), &book{accepted: []string{"a", "b"}}
				d.enqueue("a", "b")
				d.must((*lock.Record).Recovered)
				before := d.content()
				d.tearAt(k)
				died = d.dies(func() { tt.do(d, b) })
				torn := d.content()
				look(t, openDesk(t, d.dir, queue.Options{}), torn, before, tt.kind, fmt.Sprintf("cut at %d", k))

				again := openDesk(t, d.dir, queue.Options{})
				b.recover(again)
				equal(t, fmt.Sprintf("cut at %d", k), again.list(), b.owed())
				again.enqueue("d")
				again.atRest(append(b.owed(), "d"))
				noLeftovers(t, d.dir)
				again.Close()
			}
		})
	}
}

// look checks what is said of a file that an interrupted edit left.
func look(t *testing.T, d *desk, torn, before string, kind queue.FaultKind, name string) {
	t.Helper()
	defer d.Close()
	in, err := d.Inspect()
	if err != nil || !in.Exists || in.Damaged() {
		t.Fatalf("%s: inspect: got %+v, %v", name, in, err)
	}
	entries, listErr := d.List()
	equal(t, name+": entries beside the error", mids(entries), mids(in.Entries))
	if len(in.Faults) == 0 {
		if listErr != nil {
			t.Fatalf("%s: list: %v in %q", name, listErr, torn)
		}
		return
	}
	var corrupt *queue.CorruptError
	if !errors.As(listErr, &corrupt) || !errors.Is(listErr, queue.ErrCorrupt) || corrupt.Path != d.path() || corrupt.Offset <= 0 {
		t.Fatalf("%s: list: got %v, want a CorruptError with a place", name, listErr)
	}
	if len(in.Faults) != 1 || in.Faults[0].Kind != kind {
		t.Fatalf("%s: faults: got %+v, want one of kind %s in %q", name, in.Faults, kind, torn)
	}
	for _, e := range in.Entries {
		if !strings.Contains(torn, "text of "+e.MID) {
			t.Fatalf("%s: %s was made up", name, e.MID)
		}
	}
	if torn == before {
		t.Fatalf("%s: faults in a file that nobody touched", name)
	}
	_, headErr := d.headOr()
	if doubt := !in.Faults[0].Bare; doubt != errors.Is(headErr, queue.ErrCorrupt) {
		t.Fatalf("%s: head: got %v, want an error only while something is in doubt (%v) in %q", name, headErr, doubt, torn)
	} else if doubt && d.content() != torn {
		t.Fatalf("%s: a file in doubt was touched", name)
	}
}

// headOr asks for the head and returns its mid.
func (d *desk) headOr() (mid string, err error) {
	err = d.hold(func(held *lock.Record) error {
		e, _, err := d.Head(held)
		mid = e.MID
		return err
	})
	return mid, err
}

// A death at each step between two changes of files leaves the old state or the new
// one, and a record puts right which of them it should be.
func TestDeathAtEveryStep(t *testing.T) {
	for _, tt := range []struct {
		name  string
		start []string
		do    func(d *desk, b *book)
	}{
		{"first enqueue", nil, func(d *desk, b *book) { b.accept(d, "x") }},
		{"enqueue", []string{"a", "b"}, func(d *desk, b *book) { b.accept(d, "x") }},
		{"removal of the only one", []string{"a"}, func(d *desk, b *book) { b.end(d, "a") }},
		{"removal of the oldest", []string{"a", "b"}, func(d *desk, b *book) { b.end(d, "a") }},
		{"removal of the newest", []string{"a", "b"}, func(d *desk, b *book) { b.end(d, "b") }},
		{"removal of all", []string{"a", "b"}, func(d *desk, b *book) { b.end(d, "a", "b") }},
		{"compaction", []string{"a", "b", "c"}, func(d *desk, b *book) {
			d.SetCompactAt(10)
			b.end(d, "a")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			died := true
			for n := 1; died; n++ {
				d, b := newDesk(t, queue.Options{}), &book{accepted: slices.Clone(tt.start)}
				d.enqueue(tt.start...)
				d.must((*lock.Record).Recovered)
				restore := dieAtStep(n)
				died = d.dies(func() { tt.do(d, b) })
				restore()

				again := openDesk(t, d.dir, queue.Options{})
				if in, err := again.Inspect(); err != nil || len(in.Faults) > 0 {
					t.Fatalf("step %d: got %+v, %v, want a file without fault", n, in, err)
				}
				b.recover(again)
				again.atRest(b.owed())
				again.enqueue("y")
				again.atRest(append(b.owed(), "y"))
				again.Close()
			}
		})
	}
}

// Between the claim and the removal a death leaves the one message unconfirmed, and
// before the claim it leaves it as it was.
func TestDeathDuringAPass(t *testing.T) {
	died := true
	for n := 1; died; n++ {
		d, b := newDesk(t, queue.Options{}), &book{accepted: []string{"a", "b"}}
		d.enqueue("a", "b")
		d.must((*lock.Record).Recovered)
		a := &agent{}
		h := a.handover()
		h.Settle = func(_ context.Context, _ *lock.Record, e queue.Entry) error {
			b.ended = append(b.ended, e.MID)
			return nil
		}
		restore := dieAtStep(n)
		died = d.dies(func() { d.drain(h) })
		restore()

		again := openDesk(t, d.dir, queue.Options{})
		b.recover(again)
		equal(t, fmt.Sprintf("step %d", n), again.list(), b.owed())
		for _, mid := range a.handed {
			entries, _ := again.List()
			if slices.Contains(b.ended, mid) {
				continue
			}
			if entries[0].MID != mid || !entries[0].Unconfirmed() {
				t.Fatalf("step %d: %s was handed over, and the queue says %+v", n, mid, entries[0])
			}
		}
		second := &agent{}
		if _, err := again.drain(second.handover()); errors.Is(err, queue.ErrUnconfirmed) {
			again.must(func(held *lock.Record) error { return again.Remove(held, again.headMID(held)) })
			again.drain(second.handover())
		}
		for _, mid := range second.handed {
			if slices.Contains(a.handed, mid) {
				t.Fatalf("step %d: %s was handed over twice", n, mid)
			}
		}
		again.atRest(nil)
		again.Close()
	}
}

func (d *desk) headMID(held *lock.Record) string {
	e, _, _ := d.Head(held)
	return e.MID
}
