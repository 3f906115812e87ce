package timeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/lock/step"
	"github.com/docket-go/docket/timeline/segment"
)

// What one call of [Log.Append] writes at most for others too.
const (
	mostTogether  = 256
	bytesTogether = 1 << 20
	mostKept      = 64 << 10 // of the buffer, from one call to the next
)

// A together lets appends that come at the same time go in one hold of the record
// lock, one write and one sync. The first of them leads: it takes the lock, writes for
// all that wait by then, syncs, wakes them, and passes the lead on. Those who come
// while it syncs wait for the next write: each in a write of its own would take as long
// as the sync. A buffered log has nothing to sync.
type together struct {
	mu      sync.Mutex
	led     bool         // somebody leads
	waiting []*appending // behind the one that leads

	// Of the one who leads: what the last one used, to be used again.
	first appending // the call that leads without having waited
	lines [][]byte
	buf   []byte
}

// An appending is one call of Append.
type appending struct {
	entries []Entry
	turn    chan bool // told once, if it waits: true to lead, false when it is written
	written Written
	err     error
}

func (t *together) write(ctx context.Context, l *Log, entries []Entry) (Written, error) {
	t.mu.Lock()
	if !t.led {
		t.led = true
		t.mu.Unlock()
		t.first = appending{entries: entries}
		return t.lead(ctx, l, &t.first)
	}
	a := &appending{entries: entries, turn: make(chan bool, 1)}
	t.waiting = append(t.waiting, a)
	t.mu.Unlock()
	leads := false
	select {
	case leads = <-a.turn:
	case <-ctx.Done():
		if t.leave(a) {
			return Written{}, fmt.Errorf("session %s: wait for other appends: %w", l.session, context.Cause(ctx))
		}
		leads = <-a.turn // it was taken at the same moment
	}
	if leads {
		return t.lead(ctx, l, a)
	}
	return a.written, a.err
}

// leave takes a out of those that wait, unless somebody writes for it or it leads.
func (t *together) leave(a *appending) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.Index(t.waiting, a)
	if i < 0 {
		return false
	}
	t.waiting = slices.Delete(t.waiting, i, i+1)
	return true
}

// lead writes for own and for those that wait, and passes the lead on. If the lock
// was not free in time, that is so for all who waited for it as long; any other
// failure to get it is own's alone.
func (t *together) lead(ctx context.Context, l *Log, own *appending) (Written, error) {
	asLong := t.count()
	held, err := l.locks.Record(ctx)
	var all []*appending
	switch {
	case err == nil:
		all = t.take(own, mostTogether-1)
		l.writeAll(held, all)
		err = held.Release()
	case errors.Is(err, lock.ErrTimeout):
		all = t.take(own, asLong)
	default:
		all = t.take(own, 0)
	}
	if err != nil {
		for _, a := range all {
			a.written, a.err = Written{}, errors.Join(a.err, closed(err))
		}
	}
	l.commitAll(all)
	written, err := own.written, own.err
	t.first = appending{}
	for _, a := range all[1:] {
		a.turn <- false
	}
	t.pass()
	return written, err
}

// commitAll syncs what was written for all of them.
func (l *Log) commitAll(all []*appending) {
	step.At("timeline: written, not synced")
	for _, a := range slices.Backward(all) { // the sync of the last one is that of all
		if a.err == nil {
			a.err = l.Commit(a.written)
		}
	}
}

func (t *together) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.waiting)
}

// take takes up to n of those that wait, behind the one that leads.
func (t *together) take(own *appending, n int) []*appending {
	t.mu.Lock()
	defer t.mu.Unlock()
	n = min(n, len(t.waiting))
	all := append(append(make([]*appending, 0, 1+n), own), t.waiting[:n]...)
	t.waiting = slices.Delete(t.waiting, 0, n)
	return all
}

// pass makes the next one the leader.
func (t *together) pass() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.led = len(t.waiting) > 0; t.led {
		t.waiting[0].turn <- true
		t.waiting = slices.Delete(t.waiting, 0, 1)
	}
}

// writeAll writes for all of them, in as few writes as the bound allows.
func (l *Log) writeAll(held *lock.Record, all []*appending) {
	t := &l.together
	for len(all) > 0 {
		lines, buf := t.lines[:0], t.buf[:0]
		n := 0
		for n < len(all) && len(buf) < bytesTogether {
			a := all[n]
			n++
			if lines, buf, a.err = l.encode(lines, buf, a.entries); a.err != nil {
				a.err = fmt.Errorf("session %s: %w", l.session, a.err)
			}
		}
		place, err := l.segments.Write(held, lines...)
		l.answer(all[:n], place, err)
		all = all[n:]
		if clear(lines); cap(buf) <= mostKept {
			t.lines, t.buf = lines, buf
		}
	}
}

// answer tells each of them where its entries are.
func (l *Log) answer(all []*appending, place segment.Written, err error) {
	next := place.First
	for _, a := range all {
		switch {
		case a.err != nil:
		case err != nil:
			a.err = l.wrap(err)
		default:
			first := next
			for _, e := range a.entries {
				if e.public() {
					next++
				}
			}
			a.written = l.writtenAt(place, first, next)
		}
	}
}
