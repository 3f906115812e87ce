package dispatch

import (
	"errors"
	"fmt"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

// tryDrain is [Dispatcher.Drain] that waits for nobody: if another pass is at work
// the error is [lock.ErrBusy]. It ends with the context of g, and an insert with the
// grace. A budget above zero ends the pass with errBudget before the first insert
// after it. A panic becomes an error; what the pass held is free then.
func (d *Dispatcher) tryDrain(g *grace, id string, budget time.Duration) (done Pass, err error) {
	h, err := d.handles.get(id)
	if err != nil {
		return Pass{Session: id}, err
	}
	defer d.handles.put(h)
	p := pass{d: d, h: h, done: Pass{Session: id}}
	defer func() {
		if value := recover(); value != nil {
			done, err = p.done, fmt.Errorf("session %s: the pass panicked: %v", id, value)
		}
	}()
	g.enter(id, "")
	defer g.leave(id)
	if budget > 0 {
		p.until = d.options.Now().Add(budget)
	}
	for {
		held, err := h.Locks().TryDelivery()
		if err != nil {
			return p.done, err
		}
		err = g.run(&p, held)
		if again, err := p.after(err); !again {
			return p.done, err
		}
	}
}

// owes reports whether the session in dir owes something, without opening it. With
// deep, a change that somebody did not complete counts too: what it left may be
// the first debt. A session that is gone owes nothing; one that cannot be looked at
// is left to the attempt, which says why.
func owes(dir string, deep bool) bool {
	locks, err := lock.Open(dir, lock.Options{})
	if err != nil {
		return !gone(err)
	}
	q, err := queue.Open(dir, queue.Options{Locks: locks})
	if err != nil {
		return !gone(err)
	}
	owed, err := q.Owed()
	return owed || err != nil || deep && locks.Interrupted()
}

// gone reports that the session was closed meanwhile.
func gone(err error) bool {
	return errors.Is(err, session.ErrNotFound) || errors.Is(err, lock.ErrClosed) || errors.Is(err, timeline.ErrClosed)
}

// A standstill is where a session's deliveries stopped, as far as a look without a
// lock can tell whether that has changed. The zero value is nowhere.
type standstill struct {
	mid         string // the oldest message
	unconfirmed bool   // it was handed over, and nobody knows whether it arrived
	faulty      bool   // queue or record cannot be read
}

// stopped reads from the error of a pass where it stopped.
func stopped(err error) standstill {
	var p *PassError
	switch {
	case errors.Is(err, queue.ErrCorrupt), errors.Is(err, session.ErrUnreadable):
		return standstill{faulty: true}
	case errors.As(err, &p) && p.MID != "":
		return standstill{mid: p.MID, unconfirmed: p.Answer == adapter.Unconfirmed}
	}
	return standstill{}
}

// over reports that now is not s any more: another message is the oldest, the one
// that was unconfirmed is not, or what was unreadable is readable. That a message
// is being handed over by somebody else at the moment says nothing.
func (s standstill) over(now standstill) bool {
	return s.faulty != now.faulty || s.mid != now.mid || s.unconfirmed && !now.unconfirmed
}

// standsAt looks where the session's deliveries stand now. A queue that could not be read
// is read to its end: only there is it seen that it can be now.
func (d *Dispatcher) standsAt(id string, was standstill) (standstill, error) {
	h, err := d.handles.get(id)
	if err != nil {
		return standstill{}, err
	}
	defer d.handles.put(h)
	_, err = h.Record()
	var now standstill
	if err == nil {
		now, err = standing(h.queue, was.faulty)
	}
	switch {
	case errors.Is(err, queue.ErrCorrupt), errors.Is(err, session.ErrUnreadable):
		return standstill{faulty: true}, nil
	case err != nil:
		return standstill{}, err
	}
	return now, nil
}

// standing is at the oldest entry of a queue; whole asks that it can be read to its end.
func standing(q *queue.Queue, whole bool) (standstill, error) {
	e, _, err := q.Peek()
	if err == nil && whole {
		for _, err = range q.All() {
		}
	}
	return standstill{mid: e.MID, unconfirmed: e.Unconfirmed()}, err
}
