package queue_test

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

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

// Who enqueued a first entry knows it as every other handle reads it.
func TestFirstEntryIsKnownAsItIsRead(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		d, other := openDesk(rt, dir, queue.Options{}), openDesk(rt, dir, queue.Options{})
		defer d.Close()
		defer other.Close()
		text := rapid.StringN(0, 20, -1)
		for n := range rapid.IntRange(1, 3).Draw(rt, "lists") {
			e := queue.Entry{
				MID: fmt.Sprint("m", n, text.Draw(rt, "mid")), From: text.Draw(rt, "from"), Text: text.Draw(rt, "text"),
				FromLife: rapid.Uint64().Draw(rt, "life"), Doubt: text.Draw(rt, "doubt"),
				Seq: rapid.Uint64().Draw(rt, "seq"), HasSeq: rapid.Bool().Draw(rt, "has seq"),
				EnqueuedAt: time.Unix(rapid.Int64Range(-1<<40, 1<<40).Draw(rt, "second"), rapid.Int64Range(0, 1e9-1).Draw(rt, "ns")).In(time.FixedZone("east", 3600)),
				Attempts:   3, LastError: "not stored", LastAttempt: time.Unix(1, 0), Claimed: time.Unix(2, 0),
				Attributes: rapid.MapOfN(text, text, 0, 3).Draw(rt, "attributes"),
			}
			if rapid.Bool().Draw(rt, "keyed") {
				e.Dispatch = &queue.Dispatch{Operation: text.Draw(rt, "operation"), RequestDigest: text.Draw(rt, "digest")}
			}
			d.must(func(held *lock.Record) error { return d.Enqueue(held, e) })
			if own, read := d.head(), other.head(); !reflect.DeepEqual(own, read) {
				rt.Fatalf("got %#v, want %#v", own, read)
			}
			remover := []*desk{d, other}[rapid.IntRange(0, 1).Draw(rt, "remover")]
			remover.remove(e.MID)
			d.atRest(nil)
		}
	})
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
				long := entry("b") // for which the file of the last list has no room
				long.Text = strings.Repeat("b", 10_000)
				err := errors.Join(d.Reserve(held, entry("a")), other.Reserve(held, long))
				for _, mid := range order {
					err = errors.Join(err, by[mid].Enqueue(held, entry(mid)))
				}
				return err
			})
			d.atRest(order)
		})
	}
}
