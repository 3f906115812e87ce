package dispatch

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
)

// Counters count what the Dispatchers that they are given to have done since the
// process began. What other processes do on the store is not in them. The zero value
// is ready to use; it is safe for concurrent use, and must not be copied.
type Counters struct {
	Accepted     atomic.Int64 // messages; one that was replayed is not among them
	Replayed     atomic.Int64 // sends whose key had come before with this content
	Delivered    atomic.Int64 // messages that an adapter took, or is known to have
	Refused      atomic.Int64 // passes that ended at a message of which nothing was handed over
	Unconfirmed  atomic.Int64 // passes that ended at a message of which that is not known
	Revoked      atomic.Int64 // messages that somebody took back
	Passes       atomic.Int64 // that found something owed
	LockTimeouts atomic.Int64 // waits for a lock of a session that ran out
}

// passed counts a pass that delivered so many messages and ended with err.
func (c *Counters) passed(delivered int, err error) {
	if c == nil {
		return
	}
	c.Passes.Add(1)
	c.Delivered.Add(int64(delivered))
	var stopped *queue.StoppedError
	switch {
	case !errors.As(err, &stopped), stopped.Answer == queue.Refused && errors.Is(err, context.Canceled):
	case stopped.Answer == queue.Refused:
		c.Refused.Add(1)
	default:
		c.Unconfirmed.Add(1)
	}
}

// accepted counts a send.
func (c *Counters) accepted(a Accepted) {
	switch {
	case c == nil:
	case a.Replayed:
		c.Replayed.Add(1)
	default:
		c.Accepted.Add(1)
	}
}

func (c *Counters) confirmed() {
	if c != nil {
		c.Delivered.Add(1)
	}
}

func (c *Counters) revoked(mids []string) {
	if c != nil {
		c.Revoked.Add(int64(len(mids)))
	}
}

// waited counts a wait for a lock that ran out, and returns its error.
func (c *Counters) waited(err error) error {
	if c != nil && errors.Is(err, lock.ErrTimeout) {
		c.LockTimeouts.Add(1)
	}
	return err
}
