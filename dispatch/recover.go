package dispatch

import (
	"context"
	"errors"
	"fmt"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
)

// Repaired says what [Dispatcher.Repair] did, or would do.
type Repaired struct {
	Session  string
	Fault    error    // what was wrong with the queue file; nil if it could be read
	Aside    string   // where the damaged file was copied to; empty if it was not damaged
	Kept     []string // mids that the file held and the timeline does not contradict
	Restored []string // mids that the timeline proves to be owed and the file did not hold as they were accepted
	Doubtful []string // those of Restored whose end may stand in a line that cannot be read: they are unconfirmed
	Dropped  []string // mids that the file held and the timeline proves to be at an end, or not to exist

	// Unrecorded are those of Dropped that the timeline does not hold, whole: they were
	// taken for accepted, if damage took their lines, and nothing else has them any more.
	Unrecorded []queue.Entry

	Doubled []string // mids that the file held more than once
	Moved   bool     // the file held messages in another order than that of the timeline
}

// Changes reports whether the queue file was, or would be, rewritten.
func (r Repaired) Changes() bool {
	return r.Fault != nil || len(r.Restored)+len(r.Dropped)+len(r.Doubled) > 0 || r.Moved
}

// Repair makes the queue say what the timeline proves: a queue file that cannot be
// read is copied aside and rebuilt, lost debts are put back, ended ones go.
//
// What another writer left in the file and cannot be read any more is lost to the
// queue, as the timeline cannot prove it; the copy has it. A pass that is at work
// is waited for. If the process dies inside, the next repair or send goes on. Memory grows
// with the ids that it returns, and with the queue only where that is out of order.
func (d *Dispatcher) Repair(ctx context.Context, id string) (Repaired, error) {
	return d.repair(ctx, id, (*plan).rebuild)
}

// PlanRepair returns what [Dispatcher.Repair] would do now, and changes nothing.
func (d *Dispatcher) PlanRepair(ctx context.Context, id string) (Repaired, error) {
	return d.repair(ctx, id, func(*plan, context.Context, *lock.Record) error { return nil })
}

func (d *Dispatcher) repair(ctx context.Context, id string, apply func(*plan, context.Context, *lock.Record) error) (Repaired, error) {
	h, err := d.handles.get(id)
	if err != nil {
		return Repaired{Session: id}, err
	}
	defer d.handles.put(h)
	pass, err := h.Locks().Delivery(ctx)
	if err != nil {
		return Repaired{Session: id}, err
	}
	defer pass.Release()
	held, err := h.Locks().Record(ctx)
	if err != nil {
		return Repaired{Session: id}, err
	}
	defer held.Release()
	p, err := d.plan(ctx, held, planning{h: h, told: true})
	if err == nil {
		err = apply(p, ctx, held)
	}
	if err != nil {
		return p.done, fmt.Errorf("repair session %s: %w", id, err)
	}
	return p.done, nil
}

// recoverHeld completes what an interrupted holder left. Damage that none of our
// own edits leaves is not touched, except after a restart of the machine, when
// anything that was not synced may be damaged. It keeps no ids: the send that it is a part
// of takes no more memory where much is owed.
func (d *Dispatcher) recoverHeld(ctx context.Context, h *handle, held *lock.Record) error {
	if !held.Interrupted() {
		return d.reclaim(ctx, h, held)
	}
	p, err := d.plan(ctx, held, planning{h: h})
	if err == nil && p.found.Damaged() && !held.Restarted() {
		err = p.done.Fault
	}
	if err == nil {
		err = p.rebuild(ctx, held)
	}
	if err != nil {
		return fmt.Errorf("session %s: complete an interrupted change: %w", h.ID(), err)
	}
	return nil
}

// recordLate proves the delivery of a message that somebody took out of the queue
// while it was being handed over: a person who confirmed it has done so already,
// one who revoked it was too late.
func (p *pass) recordLate(ctx context.Context, held *lock.Record, e queue.Entry) error {
	fate, known, err := p.h.Timeline().Fate(ctx, e.MID)
	if err != nil || known && fate.Settled {
		return err
	}
	return p.settle(ctx, held, e)
}

// checkRedeliver refuses a pass that is to repeat a message that is not the
// unconfirmed one.
func (p *pass) checkRedeliver() error {
	mid := p.options.Redeliver
	if mid == "" {
		return nil
	}
	oldest := true
	for e, err := range p.h.queue.All() {
		if err != nil || e.MID == mid && oldest && e.Unconfirmed() {
			return err
		}
		if oldest = false; e.MID == mid {
			return fmt.Errorf("session %s: message %s: %w: only an unconfirmed message is redelivered", p.h.ID(), mid, ErrNotUnconfirmed)
		}
	}
	return fmt.Errorf("session %s: message %s: %w", p.h.ID(), mid, errors.Join(ErrNoMessage, queue.ErrNotPending))
}
