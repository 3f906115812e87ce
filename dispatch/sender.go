package dispatch

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
	"github.com/docket-go/docket/timeline/session"
)

// A sendHold is what a send holds while it writes: the target's record lock, and
// the sender's where that is a session of this store, so that it cannot be closed
// meanwhile.
type sendHold struct {
	record  *lock.Record // the target's
	life    uint64       // the sender's
	alone   bool         // there is no other lock in it
	release func() error // may be called again
}

// lockForSend refuses a sender that is closed.
func (d *Dispatcher) lockForSend(ctx context.Context, h *handle, from string) (sendHold, error) {
	if from == "" || from == h.ID() {
		return d.lockAlone(ctx, h, from)
	}
	sender, err := d.handles.get(from)
	if errors.Is(err, session.ErrNotFound) {
		if closing, closed, err := d.store.Closed(from); closed {
			return sendHold{}, closedSender(from, closing)
		} else if err != nil {
			return sendHold{}, fmt.Errorf("sender: %w", err)
		}
		return d.lockAlone(ctx, h, "")
	}
	if err != nil {
		return sendHold{}, fmt.Errorf("sender: %w", err)
	}
	return d.lockBoth(ctx, h, sender)
}

// lockAlone takes the target's lock. A target that speaks to itself is a sender too.
func (d *Dispatcher) lockAlone(ctx context.Context, h *handle, from string) (sendHold, error) {
	held, err := d.lockRecord(ctx, h)
	if err != nil {
		return sendHold{}, err
	}
	hold := sendHold{record: held, alone: true, release: held.Release}
	if from != "" {
		if hold.life, err = d.lifeOf(h); err != nil {
			return sendHold{}, errors.Join(err, hold.release())
		}
	}
	return hold, nil
}

func (d *Dispatcher) lockBoth(ctx context.Context, h, sender *handle) (sendHold, error) {
	set, err := lock.Records(ctx, h.Locks(), sender.Locks())
	if err != nil {
		d.handles.put(sender)
		if errors.Is(err, lock.ErrClosed) && sender.Locks().Gone() {
			err = closedSender(sender.ID(), session.Closing{At: d.options.Now()})
		}
		return sendHold{}, d.options.Counters.waited(err)
	}
	hold := sendHold{record: set.Of(h.Locks())}
	hold.release = sync.OnceValue(func() error {
		d.handles.put(sender)
		return set.Release()
	})
	hold.life, err = d.lifeOf(sender)
	if err == nil {
		err = d.recoverHeld(ctx, h, hold.record)
	}
	if err != nil {
		return sendHold{}, errors.Join(err, hold.release())
	}
	return hold, nil
}

// lifeOf returns which life of its id the sender is. One whose Close died halfway is
// there and closed.
func (d *Dispatcher) lifeOf(sender *handle) (uint64, error) {
	rec, err := sender.Record()
	if err != nil {
		return 0, fmt.Errorf("sender: %w", err)
	}
	closing, _, err := d.store.Closed(sender.ID())
	switch {
	case errors.Is(err, session.ErrUnreadable):
		// The mark says nothing, and the session is there.
	case err != nil:
		return 0, fmt.Errorf("sender: %w", err)
	case rec.Life < closing.Lives:
		return 0, closedSender(sender.ID(), closing)
	}
	return rec.Life, nil
}

// deathless is the life of a sender whose message no close makes void: no session gets
// as far, and every reader of JSON tells it from its neighbours.
const deathless = 1<<53 - 1

// life is the life of the sender that the message's line names.
func (m *Message) life(hold sendHold) uint64 {
	if m.Outlives {
		return deathless
	}
	return hold.life
}

// closedSender names when the sender was closed, if the mark says so.
func closedSender(id string, c session.Closing) error {
	if c.At.IsZero() {
		return fmt.Errorf("%w: %s", ErrSenderClosed, id)
	}
	return fmt.Errorf("%w: %s, at %s", ErrSenderClosed, id, c.At.UTC().Format("2006-01-02 15:04:05Z"))
}

// voided reports whether the life that sent the entry was closed. Where the mark
// cannot be read, the sender counts as closed if it is not there.
func (d *Dispatcher) voided(e queue.Entry) (bool, error) {
	if e.From == "" || e.FromLife == deathless {
		return false, nil
	}
	closing, closed, err := d.store.Closed(e.From)
	switch {
	case errors.Is(err, session.ErrBadID):
		return false, nil
	case errors.Is(err, session.ErrUnreadable):
		s, err := d.store.Open(e.From)
		if errors.Is(err, session.ErrNotFound) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		return false, s.Release()
	}
	return closed && e.FromLife < closing.Lives, err
}
