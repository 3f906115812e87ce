package dispatch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/lock/step"
	"github.com/docket-go/docket/queue"
	"github.com/docket-go/docket/timeline"
)

// Confirm decides about an unconfirmed message by what a person or a hook of the
// harness saw. With absent false the message arrived: its delivery is recorded and
// it leaves the queue. With absent true it did not: it is owed again, at its
// place.
//
// Confirming a message that is delivered already does nothing and is no error.
// The error is [ErrNotUnconfirmed] for any other that is not unconfirmed, and with
// absent for one that is delivered; [ErrInFlight] for absent while the hand-over is
// still going on, and otherwise as for [Dispatcher.State].
//
// It may be called while a pass waits for the harness, so that a hook that the
// insert itself runs can confirm.
func (d *Dispatcher) Confirm(ctx context.Context, id, mid string, absent bool) (State, error) {
	h, err := d.handles.get(id)
	if err != nil {
		return State{}, err
	}
	defer d.handles.put(h)
	if absent {
		idle, err := h.Locks().TryDelivery()
		if errors.Is(err, lock.ErrBusy) {
			return State{}, fmt.Errorf("session %s: message %s: %w: wait until the pass ends", id, mid, ErrInFlight)
		}
		if err != nil {
			return State{}, err
		}
		defer idle.Release()
	}
	decided, err := d.confirm(ctx, h, mid, absent)
	if err != nil {
		return State{}, err
	}
	if decided {
		d.tellConfirmed(ctx, id, mid, absent)
	}
	if err := h.syncAll(ctx); err != nil {
		return State{}, err
	}
	return d.state(ctx, h, mid)
}

// confirm decides about the message, unless that is decided already.
func (d *Dispatcher) confirm(ctx context.Context, h *handle, mid string, absent bool) (decided bool, err error) {
	held, err := d.lockRecord(ctx, h)
	if err != nil {
		return false, err
	}
	defer held.Release()
	e, queued, err := h.queue.Head(held)
	if err != nil {
		return false, err
	}
	if !queued || e.MID != mid || !e.Unconfirmed() {
		s, err := d.state(ctx, h, mid)
		if err == nil && (absent || s.Condition != Delivered) {
			err = fmt.Errorf("session %s: message %s is %s: %w", h.ID(), mid, s.Condition, ErrNotUnconfirmed)
		}
		return false, err
	}
	if absent {
		return true, h.queue.Unclaim(held, mid)
	}
	return true, d.conclude(h, held, []string{mid}, func() error { return d.settle(h, held, e) })
}

// conclude writes how entries ended and removes them, as one change.
func (d *Dispatcher) conclude(h *handle, held *lock.Record, mids []string, write func() error) error {
	if err := held.Begin(); err != nil {
		return err
	}
	if err := write(); err != nil {
		return errors.Join(err, held.Done())
	}
	step.At("dispatch: end recorded")
	if err := h.queue.Remove(held, mids...); err != nil {
		return err
	}
	return held.Done()
}

// Revoke takes one message back that is not delivered: its debt goes, and a
// private line says so; its public line stays. An unconfirmed message can be
// revoked, which decides that it will not be handed over again.
//
// The error is [ErrInFlight] while the message is being handed over,
// [queue.ErrNotPending] for one that is not owed, and [ErrNoMessage] for one that
// does not exist.
func (d *Dispatcher) Revoke(ctx context.Context, id, mid string) error {
	revoked, err := d.revoke(ctx, id, mid, "revoked", func(e queue.Entry) bool { return e.MID == mid })
	if err != nil || len(revoked) > 0 {
		return err
	}
	s, err := d.State(ctx, id, mid)
	switch {
	case err != nil:
		return err
	case s.Condition == Owed, s.Condition == Unconfirmed:
		return fmt.Errorf("session %s: message %s: %w: wait until the pass ends", id, mid, ErrInFlight)
	}
	return fmt.Errorf("session %s: message %s is %s: %w", id, mid, s.Condition, queue.ErrNotPending)
}

// RevokeFrom takes back everything that the sender still owes the session; empty
// means what humans sent. It returns the mids, in order. A message that is being
// handed over right now is left out.
//
// It is one moment for other processes, and one change for each 4,096 messages: after
// an error, or a death, what was taken back already stays so. With an error it returns
// which those are; the next to change the session may complete the change that failed. Once
// ctx ends it begins no further change, and the error is that of ctx.
// Of a queue that cannot be read to its end nothing is taken back.
func (d *Dispatcher) RevokeFrom(ctx context.Context, id, sender string) ([]string, error) {
	return d.revoke(ctx, id, "", "all from the sender revoked", func(e queue.Entry) bool { return e.From == sender })
}

// revoke takes back what is chosen: everything, or the one that is called only.
func (d *Dispatcher) revoke(ctx context.Context, id, only, reason string, chosen func(queue.Entry) bool) ([]string, error) {
	h, err := d.handles.get(id)
	if err != nil {
		return nil, err
	}
	defer d.handles.put(h)
	idle, err := h.Locks().TryDelivery()
	inPass := errors.Is(err, lock.ErrBusy)
	if err != nil && !inPass {
		return nil, err
	}
	defer idle.Release()
	revoked, err := d.revokeHeld(ctx, h, only, reason, func(e queue.Entry) bool {
		return chosen(e) && !(inPass && e.Unconfirmed())
	})
	if len(revoked) == 0 {
		return nil, err
	}
	d.tellRevoked(ctx, id, revoked)
	return revoked, errors.Join(err, h.syncAll(context.WithoutCancel(ctx)))
}

// revokeAtOnce bounds how many messages one change takes back.
const revokeAtOnce = 4 << 10

func (d *Dispatcher) revokeHeld(ctx context.Context, h *handle, only, reason string, chosen func(queue.Entry) bool) ([]string, error) {
	held, err := d.lockRecord(ctx, h)
	if err != nil {
		return nil, err
	}
	defer held.Release()
	if only == "" { // a change would be recorded before damage behind it is found
		if _, err := standing(h.queue, true); err != nil {
			return nil, err
		}
	}
	var all []string
	for {
		revoked, err := d.revokeSome(h, held, only, reason, chosen)
		if err != nil {
			return all, err
		}
		if all = append(all, revoked...); only != "" || len(revoked) < d.group {
			return all, nil
		}
		if err := ctx.Err(); err != nil {
			return all, fmt.Errorf("session %s: %d messages are taken back, and others may be owed still: %w", h.ID(), len(all), err)
		}
	}
}

// revokeSome takes back the oldest of what is chosen, as one change.
func (d *Dispatcher) revokeSome(h *handle, held *lock.Record, only, reason string, chosen func(queue.Entry) bool) ([]string, error) {
	var revoked []string
	var lines []timeline.Entry
	oldest := true
	for e, err := range h.queue.All() {
		if err != nil {
			return nil, err
		}
		if chosen(e) {
			revoked = append(revoked, e.MID)
			lines = append(lines, revocation(e, d.options.Now(), reason))
		}
		if oldest && e.MID == only || len(revoked) == d.group {
			break // one that is called goes where it stands, whatever is behind it
		}
		oldest = false
	}
	if len(revoked) == 0 {
		return nil, nil
	}
	return revoked, d.conclude(h, held, revoked, func() error {
		_, err := h.write(held, lines...)
		return err
	})
}

func revocation(e queue.Entry, at time.Time, reason string) timeline.Revoked {
	r := timeline.Revoked{Time: at, MID: e.MID, Reason: reason}
	if e.Dispatch != nil {
		r.Operation, r.RequestDigest = e.Dispatch.Operation, e.Dispatch.RequestDigest
	}
	return r
}
