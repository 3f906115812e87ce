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
// lock, one write and one sync. The first of those that wait leads: it takes the lock,
// writes for all that are there by then, passes the lead on, and syncs before it wakes
// them.
type together struct {
	mu      sync.Mutex
	led     bool // somebody leads
	waiting []*appending

	// Of the one who holds the record lock: what the last one encoded, to be written over.
	lines [][]byte
	buf   []byte
}

// An appending is one call that waits. Of its two channels one is closed, once; one
// that leads at once has none.
type appending struct {
	entries []Entry
	lead    chan struct{} // it is this one's turn to lead
	done    chan struct{} // somebody else wrote and synced, or was refused
	written Written
	err     error
}

func (t *together) write(ctx context.Context, l *Log, entries []Entry) (Written, error) {
	a := &appending{entries: entries}
	t.mu.Lock()
	t.waiting = append(t.waiting, a)
	if !t.led {
		t.led = true
		t.mu.Unlock()
		t.leadOnce(ctx, l, a)
		return a.written, a.err
	}
	a.lead, a.done = make(chan struct{}), make(chan struct{})
	t.mu.Unlock()
	select {
	case <-a.lead:
		t.leadOnce(ctx, l, a)
	case <-a.done:
	case <-ctx.Done():
		if t.leave(a) {
			return Written{}, fmt.Errorf("session %s: wait for other appends: %w", l.session, context.Cause(ctx))
		}
		select { // it was taken at the same moment
		case <-a.lead:
			t.leadOnce(ctx, l, a)
		case <-a.done:
		}
	}
	return a.written, a.err
}

// leave takes a out of those that wait, unless somebody writes for it or it leads.
func (t *together) leave(a *appending) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.Index(t.waiting, a)
	select {
	case <-a.lead:
		return false
	default:
	}
	if i < 0 {
		return false
	}
	t.waiting = slices.Delete(t.waiting, i, i+1)
	return true
}

// leadOnce writes for own, which waits first, and for those behind it. If the lock
// was not free in time, that is so for all who waited for it as long; any other
// failure to get it is own's alone.
func (t *together) leadOnce(ctx context.Context, l *Log, own *appending) {
	asLong := t.count()
	held, err := l.locks.Record(ctx)
	var all []*appending
	switch {
	case err == nil:
		all = t.take(mostTogether)
		l.writeAll(held, all)
		err = held.Release()
	case errors.Is(err, lock.ErrTimeout):
		all = t.take(asLong)
	default:
		all = t.take(1)
	}
	if err != nil {
		for _, a := range all {
			a.written, a.err = Written{}, errors.Join(a.err, closed(err))
		}
	}
	t.pass()
	l.commitAll(all)
	for _, a := range all {
		if a != own {
			close(a.done)
		}
	}
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

// take takes up to n of those that wait, the leader first.
func (t *together) take(n int) []*appending {
	t.mu.Lock()
	defer t.mu.Unlock()
	n = min(n, len(t.waiting))
	taken := slices.Clone(t.waiting[:n])
	t.waiting = slices.Delete(t.waiting, 0, n)
	return taken
}

// pass makes the next one the leader.
func (t *together) pass() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.led = len(t.waiting) > 0; t.led {
		close(t.waiting[0].lead)
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
