package debts

import (
	"errors"
	"time"

	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/queue"
)

// A Debt is what one session is owed.
type Debt struct {
	Session string
	Owed    int // messages

	// Of the oldest one:
	MID         string
	EnqueuedAt  time.Time // zero if another writer did not say
	Attempts    int
	LastAttempt time.Time
	LastError   string
	Unconfirmed bool      // it was handed over, and nobody knows whether it arrived
	Handing     bool      // it is being handed over now; see [dispatch.Debt]
	Claimed     time.Time // when either began
}

// Age is how long the oldest message has been waiting; zero if that is not known.
func (d Debt) Age(now time.Time) time.Duration {
	if d.EnqueuedAt.IsZero() {
		return 0
	}
	return max(now.Sub(d.EnqueuedAt), 0)
}

// Of returns what the session with that id and directory is owed; Owed is 0 if that is
// nothing, or the session is gone. It may be called at any time. The error is
// [queue.ErrCorrupt] for a queue that cannot be read (the Debt holds what can be), or of
// the disk.
func Of(id, dir string) (d Debt, err error) {
	d.Session = id
	if owes, err := queue.Owes(dir); err != nil || !owes {
		return d, err
	}
	q, err := queue.Open(dir, queue.Options{})
	if err != nil {
		return d, err
	}
	defer func() { err = errors.Join(err, q.Close()) }()
	e, found, err := dispatch.Oldest(q.Locks(), q.Peek)
	if found {
		d.MID, d.EnqueuedAt, d.Attempts = e.MID, e.EnqueuedAt, e.Attempts
		d.LastAttempt, d.LastError = e.LastAttempt, e.LastError
		d.Unconfirmed, d.Handing, d.Claimed = e.Unconfirmed(), e.Handing, e.Claimed
		d.Owed = 1
	}
	if err != nil || !found {
		return d, err
	}
	n, err := q.Len()
	if n > 0 { // else a pass has just delivered it
		d.Owed = n
	}
	return d, err
}
