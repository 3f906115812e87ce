package queue_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
)

// A reader without a lock sees entries of some moments, in order, among them all that
// were owed all the while, and never a file that makes no sense, though edits span pages.
func TestReadersBesideAWriter(t *testing.T) {
	d := newDesk(t, queue.Options{})
	d.SetCompactAt(100_000)
	reader := openDesk(t, d.dir, queue.Options{})
	defer reader.Close()
	reader.SetPatience(time.Minute)
	done := make(chan struct{})
	var added, gone atomic.Uint64 // how many are enqueued, and how many begun to be removed
	var reading sync.WaitGroup
	reading.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			before := added.Load()
			entries, err := reader.List()
			if err != nil {
				t.Errorf("list: %v", err)
				return
			}
			after, next := gone.Load(), uint64(0)
			for _, e := range append(entries, queue.Entry{Seq: before}) {
				if owed := max(next, after); e.Seq < next && e.MID != "" || owed < min(e.Seq, before) {
					t.Errorf("entry %d where %d was owed", e.Seq, owed)
				}
				next = e.Seq + 1
			}
		}
	})
	for i := range 400 {
		e := entry(fmt.Sprintf("m%d", i))
		e.Seq, e.HasSeq = uint64(i), true
		e.Text = strings.Repeat("x", 9000)
		d.must(func(held *lock.Record) error { return d.Enqueue(held, e) })
		added.Add(1)
		if i >= 10 {
			gone.Add(1)
			d.remove(fmt.Sprintf("m%d", i-10))
		}
	}
	close(done)
	reading.Wait()
}

// Goroutines that share handles lose nothing and hand over nothing twice.
func TestGoroutinesRace(t *testing.T) {
	const senders, each = 6, 40
	d := newDesk(t, queue.Options{})
	other := openDesk(t, d.dir, queue.Options{})
	defer other.Close()
	var mu sync.Mutex
	var handed []string
	var accepted []string
	var all sync.WaitGroup
	pass := func(h *desk) {
		held, err := h.Locks().Delivery(context.Background())
		if err != nil {
			t.Error(err)
			return
		}
		defer held.Release()
		_, err = h.Drain(context.Background(), held, queue.Handover{Insert: func(_ context.Context, e queue.Entry) (queue.Answer, error) {
			mu.Lock()
			defer mu.Unlock()
			if len(handed)%7 == 6 && e.Attempts == 0 {
				return queue.Refused, errBusy
			}
			handed = append(handed, e.MID)
			return queue.Taken, nil
		}})
		if err != nil && !errors.Is(err, errBusy) {
			t.Error(err)
		}
	}
	for i := range senders {
		h := []*desk{d, other}[i%2]
		all.Go(func() {
			for n := range each {
				mid := fmt.Sprintf("s%d-%d", i, n)
				held, err := h.Locks().Record(context.Background())
				if err == nil {
					if err = h.Enqueue(held, entry(mid)); err == nil {
						mu.Lock()
						accepted = append(accepted, mid)
						mu.Unlock()
					}
					err = errors.Join(err, held.Release())
				}
				if err != nil {
					t.Error(err)
				}
				if n%3 == 0 {
					pass(h)
				}
			}
		})
	}
	all.Wait()
	for owed, _ := d.Owed(); owed; owed, _ = d.Owed() {
		pass(d)
	}
	equal(t, "handed over, against accepted", handed, accepted)
	d.atRest(nil)
}

// Who reads without the record lock does not share what the holder changes: the race
// detector would see it.
func TestReadersBesideANote(t *testing.T) {
	d := newDesk(t, queue.Options{})
	d.enqueue("m1")
	ended := make(chan error, 1)
	go func() {
		var err error
		for range 50 {
			_, listed := d.List()
			err = errors.Join(err, listed)
		}
		ended <- err
	}()
	for range 50 {
		d.must(func(held *lock.Record) error {
			_, _, err := d.Head(held)
			return err
		})
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
