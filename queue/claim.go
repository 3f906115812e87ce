package queue

import (
	"slices"
	"time"

	"github.com/docket-go/docket/lock"
)

// attempt changes the note about the oldest entry, which must be mid.
func (q *Queue) attempt(held *lock.Record, mid string, edit func(n *note, now time.Time)) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	l, err := q.first(held)
	if err != nil {
		return err
	}
	if l == nil || l.entry.MID != mid {
		return notPending(q.path, mid)
	}
	n, err := q.note(held)
	if err != nil {
		return err
	}
	next := noteOf(mid)
	switch {
	case n.broken != nil:
		next.Claimed = &n.since
	case n.about(mid):
		next.Attempts, next.Claimed, next.LastAttempt, next.LastError = n.Attempts, n.Claimed, n.LastAttempt, n.LastError
	case l.entry.Doubt != "":
		since := l.entry.doubted()
		next.Claimed = &since
	}
	edit(&next, q.now().UTC().Round(0))
	return q.writeNote(held, next)
}

// dropNote empties the note if it is about a message that was just removed, or may
// be about the oldest one that was.
func (q *Queue) dropNote(held *lock.Record, mids []string, oldest bool) error {
	n, err := q.note(held)
	if err == nil && (n.broken != nil && oldest || slices.ContainsFunc(mids, n.about)) {
		err = q.writeNote(held, note{})
	}
	return err
}

// spendNote is dropNote that leaves the claim which this handle wrote: the next one
// takes its place. It does not look whether it is there still.
func (q *Queue) spendNote(held *lock.Record, mids []string, oldest bool) error {
	if h := &q.heads; h.raw != nil && slices.ContainsFunc(mids, h.note.about) {
		h.spent = true
		return nil
	}
	return q.dropNote(held, mids, oldest)
}

// settleNote empties at the end of a hold what spendNote left, if something is owed:
// that may bear the same id.
func (q *Queue) settleNote(held *lock.Record) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.heads.spent || q.known.file == nil {
		return
	}
	if _, err := q.note(held); err == nil && q.heads.spent {
		_ = q.writeNote(held, note{}) // as in Remove
	}
}

// Claim notes that a hand-over of the oldest entry, which must be mid, begins. From
// then on the entry is unconfirmed, until it is removed or one of [Queue.Refused]
// and [Queue.Unclaim] says that nothing arrived.
//
// Nil promises that the claim outlives this process; it is not synced. The error is
// [ErrNotPending] when mid is not the oldest entry, or as for [Queue.Head]; the
// claim is as before then. A death inside leaves the old note or the new one.
func (q *Queue) Claim(held *lock.Record, mid string) error {
	return q.attempt(held, mid, func(n *note, now time.Time) {
		n.Attempts++
		n.Claimed, n.LastAttempt, n.LastError = &now, &now, ""
	})
}

// Refused notes that an attempt at the oldest entry, which must be mid, ended with
// nothing handed over, and why. A claim ends; without one, this is an attempt too.
// Promises and errors are those of [Queue.Claim].
func (q *Queue) Refused(held *lock.Record, mid, reason string) error {
	return q.attempt(held, mid, func(n *note, now time.Time) {
		if n.Claimed == nil {
			n.Attempts++
		}
		n.Claimed, n.LastAttempt, n.LastError = nil, &now, reason
	})
}

// Unconfirmed notes why it is not known whether the oldest entry, which must be mid,
// was handed over. A claim stays; without one, this makes one. Promises and errors
// are those of [Queue.Claim].
func (q *Queue) Unconfirmed(held *lock.Record, mid, reason string) error {
	return q.attempt(held, mid, func(n *note, now time.Time) {
		if n.Claimed == nil {
			n.Attempts++
			n.Claimed, n.LastAttempt = &now, &now
		}
		n.LastError = reason
	})
}

// Unclaim takes the claim of the oldest entry, which must be mid, back: it is known
// by now that nothing arrived. Promises and errors are those of [Queue.Claim].
func (q *Queue) Unclaim(held *lock.Record, mid string) error {
	return q.attempt(held, mid, func(n *note, _ time.Time) { n.Claimed = nil })
}
