package timeline

import (
	"context"
	"fmt"
	"slices"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/timeline/segment"
)

// Written says where [Log.Write] put its entries.
type Written struct {
	// First and Next are before the first public entry and after the last.
	First, Next Cursor

	FirstSeq, NextSeq uint64 // the same as sequences

	place segment.Written
}

// Write stores the entries, in this order and with one write, at the end of the
// log. The caller holds the session's record lock. What was written is visible
// to readers at once and survives the death of the process, but it is accepted
// only when [Log.Commit] has returned nil for it, which the caller asks for after
// it released the lock.
//
// An error leaves nothing of the entries in the log. It is [lock.ErrNotHeld],
// [ErrText], a [*TooLargeError], [ErrEntry], [ErrClosed], [segment.ErrFull],
// [segment.ErrFaulted], [segment.ErrVersion], or wraps one of the system. If the
// process dies inside, the first of the entries may be there whole; a torn one is
// never seen, and the next Write removes it.
func (l *Log) Write(held *lock.Record, entries ...Entry) (Written, error) {
	lines, _, err := l.encode(nil, nil, entries)
	if err != nil {
		return Written{}, fmt.Errorf("session %s: %w", l.session, err)
	}
	place, err := l.segments.Write(held, lines...)
	if err != nil {
		return Written{}, l.wrap(err)
	}
	return l.writtenAt(place, place.First, place.Next), nil
}

// writtenAt is about the entries first to next of what place says.
func (l *Log) writtenAt(place segment.Written, first, next uint64) Written {
	return Written{
		First: l.cursor(place.Epoch, first), Next: l.cursor(place.Epoch, next),
		FirstSeq: first, NextSeq: next, place: place,
	}
}

// encode appends a line for each of the entries, whose bytes it appends to buf. It
// refuses all entries if it refuses one.
func (l *Log) encode(lines [][]byte, buf []byte, entries []Entry) ([][]byte, []byte, error) {
	now := l.now()
	room := 0
	for _, e := range entries {
		if e == nil {
			return lines, buf, fmt.Errorf("%w: there is none", ErrEntry)
		}
		if err := e.check(l.maxText); err != nil {
			return lines, buf, err
		}
		room += e.room()
	}
	buf = slices.Grow(buf, room)
	for _, e := range entries {
		from := len(buf)
		buf = e.append(buf, now)
		lines = append(lines, buf[from:len(buf):len(buf)])
	}
	return lines, buf, nil
}

// Commit returns nil once everything that the Write of w stored is on stable
// storage. Concurrent callers share one sync; none of them needs a lock. With
// [Options.Buffered] it does nothing. An error is [segment.ErrFaulted]: it is not
// known what a power cut would leave, and this Log refuses to write from then on.
func (l *Log) Commit(w Written) error { return l.wrap(l.segments.Sync(w.place)) }

// Hasten begins with what Commit will do for w, under the record lock, so that Commit
// waits less. It is worth its time where something else is done between the two.
func (l *Log) Hasten(w Written) { l.segments.Hasten(w.place) }

// Append is [Log.Write] under the record lock, and [Log.Commit] after it. Nil
// means accepted. Errors are theirs and those of [lock.Dir.Record].
//
// Calls at the same time share the lock and the write, in the order in which they
// came, as they share the sync; one whose entries are refused does not disturb the
// others. A call whose ctx ends while it waits has written nothing.
func (l *Log) Append(ctx context.Context, entries ...Entry) (Written, error) {
	return l.together.write(ctx, l, entries)
}

// SyncAll returns nil once everything that any process wrote before the call is
// on stable storage.
func (l *Log) SyncAll(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return l.wrap(err)
	}
	return l.wrap(l.segments.SyncAll())
}

// NextSeq returns the sequence that the next public entry will get. The caller
// holds the record lock, so that it stays true until it writes.
func (l *Log) NextSeq(held *lock.Record) (uint64, error) {
	seq, err := l.segments.NextSeq(held)
	return seq, l.wrap(err)
}

func (l *Log) cursor(e segment.Epoch, seq uint64) Cursor {
	return NewCursor(l.session, e, seq)
}
