package queue_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
)

// The file that Reserve wrote serves the first entry, whatever became of it since.
func TestFirstEntryDiffersFromWhatWasReserved(t *testing.T) {
	for name, change := range map[string]func(e *queue.Entry){
		"the same": func(*queue.Entry) {},
		"longer":   func(e *queue.Entry) { e.Seq, e.HasSeq = 7, true },
		"shorter":  func(e *queue.Entry) { e.Text = "" },
		"another":  func(e *queue.Entry) { *e = entry("b"); e.Text = strings.Repeat("x", 10_000) },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, queue.Options{})
			e := entry("a")
			d.must(func(held *lock.Record) error {
				err := d.Reserve(held, e)
				change(&e)
				return errors.Join(err, d.Enqueue(held, e))
			})
			d.atRest([]string{e.MID})
			if got := d.head(); got.Text != e.Text || got.Seq != e.Seq {
				t.Errorf("got %+v, want %+v", got, e)
			}
		})
	}
}

// A second handle that shares the hold may reserve too; each publishes its own entry.
func TestTwoReserveInOneHold(t *testing.T) {
	for name, order := range map[string][]string{"in order": {"a", "b"}, "the last one first": {"b", "a"}} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, queue.Options{})
			other := openDesk(t, d.dir, queue.Options{Locks: d.Locks()})
			defer other.Close()
			by := map[string]*desk{"a": d, "b": other}
			d.must(func(held *lock.Record) error {
				err := errors.Join(d.Reserve(held, entry("a")), other.Reserve(held, entry("b")))
				for _, mid := range order {
					e := entry(mid)
					e.Seq, e.HasSeq = 7, true
					err = errors.Join(err, by[mid].Enqueue(held, e))
				}
				return err
			})
			d.atRest(order)
			d.remove(order...)
			d.must(func(held *lock.Record) error {
				err := errors.Join(d.Reserve(held, entry("a")), other.Reserve(held, entry("b")))
				for _, mid := range order {
					err = errors.Join(err, by[mid].Enqueue(held, entry(mid)))
				}
				return err
			})
			d.atRest(order)
		})
	}
}
