package dispatch

import (
	"iter"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
)

// A Debt is a message that a session is owed.
type Debt struct {
	queue.Entry

	// Handing says that it is being handed over now: it is claimed, nothing was noted of
	// how that ended, and a live pass holds the delivery lock. It is owed then, and
	// nobody has to decide about it.
	Handing bool
}

// Unconfirmed reports that a hand-over of the message began, that nobody is at work on
// it any more, and that nobody knows how it ended.
func (d Debt) Unconfirmed() bool { return d.Entry.Unconfirmed() && !d.Handing }

// Condition is [Unconfirmed] or else [Owed].
func (d Debt) Condition() Condition {
	if d.Unconfirmed() {
		return Unconfirmed
	}
	return Owed
}

// Oldest asks read for the oldest entry of the session with these locks, and finds out
// whether that is being handed over now. If a pass dies, the answer is no from then on.
// What read answers beside an error is taken as it is.
//
// It takes no lock, and looks at one only where the entry is claimed. Read is asked again
// where a pass may have ended between its answer and that look. It may be called at any
// time, and is true of a moment during the call.
func Oldest(locks *lock.Dir, read func() (queue.Entry, bool, error)) (d Debt, found bool, err error) {
	for range mostPasses {
		e, found, err := read()
		switch {
		case !found || !e.Unconfirmed() || e.LastError != "":
			return Debt{Entry: e}, found, err
		case locks.Delivering():
			return Debt{e, true}, found, err
		case err != nil || d.MID == e.MID && d.Claimed.Equal(e.Claimed):
			// Who had claimed it was gone by the last look.
			return Debt{Entry: e}, found, err
		}
		d = Debt{e, true} // so many passes in so short a time: one of them is at work
	}
	return d, true, nil
}

// mostPasses bounds the passes that end while [Oldest] looks.
const mostPasses = 10

// debts yields what the session is owed, in order, with the errors of [queue.Queue.All].
func (h *handle) debts() iter.Seq2[Debt, error] {
	return func(yield func(Debt, error) bool) {
		var next func() (queue.Entry, error, bool)
		stop := func() {}
		defer func() { stop() }()
		head, found, err := Oldest(h.Locks(), func() (queue.Entry, bool, error) {
			stop()
			next, stop = iter.Pull2(h.queue.All())
			e, err, more := next()
			return e, more && err == nil, err
		})
		if err != nil {
			yield(Debt{}, err)
			return
		}
		if !found || !yield(head, nil) {
			return
		}
		for e, err, more := next(); more; e, err, more = next() {
			if !yield(Debt{Entry: e}, err) {
				return
			}
		}
	}
}
