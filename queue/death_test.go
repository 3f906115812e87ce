package queue_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/lock/step"
	"github.com/docket-go/docket/queue"
)

// death is the panic that stands for the end of a process.
type death struct{}

// dies runs do, and reports whether it died inside. The handle is not used again.
func (d *desk) dies(do func()) (died bool) {
	d.t.Helper()
	defer func() {
		switch r := recover(); r {
		case nil:
		case death{}:
			died = true
		default:
			panic(r)
		}
	}()
	do()
	return false
}

// tearAt lets the next write to the list reach the disk up to byte k only, and the
// process die there. A write that is shorter is whole, and nobody dies.
func (d *desk) tearAt(k int) {
	armed := true
	d.SetWriteAt(func(f *os.File, p []byte, at int64) (int, error) {
		if !armed || strings.HasPrefix(filepath.Base(f.Name()), queue.ClaimFile) || k > len(p) {
			return f.WriteAt(p, at)
		}
		armed = false
		if _, err := f.WriteAt(p[:k], at); err != nil {
			return 0, err
		}
		panic(death{})
	})
}

// dieAtStep makes the n-th step from now on the last, and returns how to call it off.
func dieAtStep(n int) (restore func()) {
	return step.Hook(func(string) {
		if n--; n == 0 {
			panic(death{})
		}
	})
}

// A book is what a record of its own would know: what was accepted and what of it
// came to an end, in order.
type book struct {
	accepted []string
	ended    []string
}

func (b *book) owed() []string {
	var owed []string
	for _, mid := range b.accepted {
		if !slices.Contains(b.ended, mid) {
			owed = append(owed, mid)
		}
	}
	return owed
}

// announced runs do as a change of several files, the book being one of them.
func (d *desk) announced(do func(held *lock.Record) error) {
	d.t.Helper()
	d.must(func(held *lock.Record) error { return errors.Join(held.Begin(), do(held), held.Done()) })
}

// accept notes a message and enqueues it, end notes the end of messages and removes
// them, as one announced change.
func (b *book) accept(d *desk, mid string) {
	d.t.Helper()
	d.announced(func(held *lock.Record) error {
		b.accepted = append(b.accepted, mid)
		return d.Enqueue(held, entry(mid))
	})
}

func (b *book) end(d *desk, mids ...string) {
	d.t.Helper()
	d.announced(func(held *lock.Record) error {
		b.ended = append(b.ended, mids...)
		return d.Remove(held, mids...)
	})
}

// recover makes the queue agree with the book if somebody died in the middle of a
// change, as whoever keeps a record does.
func (b *book) recover(d *desk) {
	d.t.Helper()
	d.must(func(held *lock.Record) error {
		if !held.Interrupted() {
			return nil
		}
		in, err := d.Inspect()
		if err != nil {
			return err
		}
		var entries []queue.Entry
		for _, mid := range b.owed() {
			i := slices.IndexFunc(in.Entries, func(e queue.Entry) bool { return e.MID == mid })
			if i < 0 {
				entries = append(entries, entry(mid))
			} else {
				entries = append(entries, in.Entries[i])
			}
		}
		aside, err := d.Rebuild(held, entries)
		if err == nil && aside != "" {
			err = errors.New("a death is no damage, and was set aside")
		}
		return errors.Join(err, held.Recovered())
	})
}
