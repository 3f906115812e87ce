package dispatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
	"github.com/docket-go/docket/timeline"
)

// Repaired says what [Dispatcher.Repair] did.
type Repaired struct {
	Session  string
	Fault    error    // what was wrong with the queue file; nil if it could be read
	Aside    string   // where the damaged file was copied to; empty if it was not damaged
	Kept     []string // mids that the file held and the timeline does not contradict
	Restored []string // mids that the timeline proves to be owed and the file did not hold
	Dropped  []string // mids that the file held and the timeline proves to be at an end
}

// Repair makes the queue say what the timeline proves: a queue file that cannot be
// read is copied aside and rebuilt, lost debts are put back, ended ones go.
//
// What another writer left in the file and cannot be read any more is lost to the
// queue, as the timeline cannot prove it; the copy has it. A pass that is at work
// is waited for. If the process dies inside, the next repair or send goes on.
func (d *Dispatcher) Repair(ctx context.Context, id string) (Repaired, error) {
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
	done, err := d.reconcile(ctx, h, held, true)
	if err != nil {
		return done, fmt.Errorf("repair session %s: %w", id, err)
	}
	return done, held.Recovered()
}

// recoverHeld completes what an interrupted holder left. Damage that none of our
// own edits leaves is not touched, except after a restart of the machine, when
// anything that was not synced may be damaged.
func (d *Dispatcher) recoverHeld(ctx context.Context, h *handle, held *lock.Record) error {
	if !held.Interrupted() {
		return nil
	}
	if _, err := d.reconcile(ctx, h, held, held.Restarted()); err != nil {
		return fmt.Errorf("session %s: complete an interrupted change: %w", h.ID(), err)
	}
	return held.Recovered()
}

// reconcile rewrites the queue if it does not say what the timeline proves. Without
// force it leaves a file alone that has more wrong with it than an interrupted edit.
func (d *Dispatcher) reconcile(ctx context.Context, h *handle, held *lock.Record, force bool) (Repaired, error) {
	done := Repaired{Session: h.ID()}
	found, err := h.queue.Inspect()
	if err != nil {
		return done, err
	}
	done.Fault = found.Err()
	if !force && slices.ContainsFunc(found.Faults, func(f queue.Fault) bool { return f.Kind == queue.Damaged }) {
		return done, done.Fault
	}
	owed, err := h.Timeline().Owed(ctx)
	if err != nil {
		return done, err
	}
	entries, err := d.merge(ctx, h, found.Entries, owed, &done, held.Restarted())
	if err != nil {
		return done, err
	}
	if done.Fault == nil && len(done.Restored)+len(done.Dropped) == 0 && inOrder(entries, found.Entries) {
		return done, nil
	}
	done.Aside, err = h.queue.Rebuild(held, entries)
	return done, err
}

// merge joins what the queue holds with what the timeline proves, in the order of
// the timeline.
func (d *Dispatcher) merge(ctx context.Context, h *handle, queued []queue.Entry, owed []timeline.Debt, done *Repaired, restarted bool) ([]queue.Entry, error) {
	proven := make(map[string]timeline.Debt, len(owed))
	for _, debt := range owed {
		proven[debt.Sent.MID] = debt
	}
	var entries []queue.Entry
	seen := map[string]bool{}
	for _, e := range queued {
		if seen[e.MID] {
			continue
		}
		seen[e.MID] = true
		if debt, ok := proven[e.MID]; ok {
			e.Seq, e.HasSeq = debt.Seq, true
		} else if keep, err := d.unproven(ctx, h, &e, restarted); err != nil {
			return nil, err
		} else if !keep {
			done.Dropped = append(done.Dropped, e.MID)
			continue
		}
		done.Kept = append(done.Kept, e.MID)
		entries = append(entries, e)
	}
	for _, debtOf := range owed {
		if !seen[debtOf.Sent.MID] {
			e := debt(debtOf.Sent)
			e.Seq, e.HasSeq = debtOf.Seq, true
			done.Restored = append(done.Restored, e.MID)
			entries = append(entries, e)
		}
	}
	sortBySeq(entries)
	return entries, nil
}

// sortBySeq brings entries into the order of the timeline; one whose line is not
// known stays behind the entry that it stood behind.
func sortBySeq(entries []queue.Entry) {
	for i := 1; i < len(entries); i++ {
		if !entries[i].HasSeq {
			entries[i].Seq = entries[i-1].Seq
		}
	}
	slices.SortStableFunc(entries, func(a, b queue.Entry) int { return cmp.Compare(a.Seq, b.Seq) })
}

// unproven decides about an entry that no private line proves to be owed: another
// writer's stays, one that is at an end goes. One without any line stays too,
// unless a power cut took the line: then its sender was never told of success.
func (d *Dispatcher) unproven(ctx context.Context, h *handle, e *queue.Entry, restarted bool) (keep bool, err error) {
	fate, known, err := h.Timeline().Fate(ctx, e.MID)
	if err != nil {
		return false, err
	}
	if !known {
		return !restarted, nil
	}
	e.Seq, e.HasSeq = fate.Seq, true
	return !fate.Settled && !fate.Revoked, nil
}

func inOrder(a, b []queue.Entry) bool {
	return slices.EqualFunc(a, b, func(x, y queue.Entry) bool { return x.MID == y.MID })
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
	entries, err := p.h.queue.List()
	if err != nil {
		return err
	}
	for i, e := range entries {
		if e.MID == mid && i == 0 && e.Unconfirmed() {
			return nil
		}
		if e.MID == mid {
			return fmt.Errorf("session %s: message %s: %w: only an unconfirmed message is redelivered", p.h.ID(), mid, ErrNotUnconfirmed)
		}
	}
	return fmt.Errorf("session %s: message %s: %w", p.h.ID(), mid, errors.Join(ErrNoMessage, queue.ErrNotPending))
}
