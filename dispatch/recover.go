package dispatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
	"github.com/docket-go/docket/timeline"
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
}

// Changes reports whether the queue file was, or would be, rewritten.
func (r Repaired) Changes() bool { return r.Fault != nil || len(r.Restored)+len(r.Dropped) > 0 }

// Repair makes the queue say what the timeline proves: a queue file that cannot be
// read is copied aside and rebuilt, lost debts are put back, ended ones go.
//
// What another writer left in the file and cannot be read any more is lost to the
// queue, as the timeline cannot prove it; the copy has it. A pass that is at work
// is waited for. If the process dies inside, the next repair or send goes on.
func (d *Dispatcher) Repair(ctx context.Context, id string) (Repaired, error) {
	return d.repair(ctx, id, d.rebuild)
}

// PlanRepair returns what [Dispatcher.Repair] would do now, and changes nothing.
func (d *Dispatcher) PlanRepair(ctx context.Context, id string) (Repaired, error) {
	return d.repair(ctx, id, func(*handle, *lock.Record, *plan) error { return nil })
}

func (d *Dispatcher) repair(ctx context.Context, id string, apply func(*handle, *lock.Record, *plan) error) (Repaired, error) {
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
	p, err := d.plan(ctx, h, held)
	if err == nil {
		err = apply(h, held, p)
	}
	if err != nil {
		return p.done, fmt.Errorf("repair session %s: %w", id, err)
	}
	return p.done, nil
}

// recoverHeld completes what an interrupted holder left. Damage that none of our
// own edits leaves is not touched, except after a restart of the machine, when
// anything that was not synced may be damaged.
func (d *Dispatcher) recoverHeld(ctx context.Context, h *handle, held *lock.Record) error {
	if !held.Interrupted() {
		return nil
	}
	p, err := d.plan(ctx, h, held)
	if err == nil && p.found.Damaged() && !held.Restarted() {
		err = p.done.Fault
	}
	if err == nil {
		err = d.rebuild(h, held, p)
	}
	if err != nil {
		return fmt.Errorf("session %s: complete an interrupted change: %w", h.ID(), err)
	}
	return nil
}

// A plan is what the queue has to become for it to say what the timeline proves.
type plan struct {
	found      queue.Inspection
	entries    []queue.Entry
	unrecorded map[string]bool // mids of those whose line the timeline does not have
	done       Repaired
}

func (d *Dispatcher) plan(ctx context.Context, h *handle, held *lock.Record) (*plan, error) {
	p := &plan{unrecorded: map[string]bool{}, done: Repaired{Session: h.ID()}}
	var err error
	if p.found, err = h.queue.Inspect(); err != nil {
		return p, err
	}
	p.done.Fault = p.found.Err()
	owed, err := h.Timeline().Owed(ctx)
	if err != nil {
		return p, err
	}
	if err = d.merge(ctx, h, p, owed, held.Restarted()); err == nil {
		err = p.doubt(ctx, h)
	}
	return p, err
}

// doubt marks what the queue did not hold and whose end may stand in a line that
// cannot be read any more.
func (p *plan) doubt(ctx context.Context, h *handle) error {
	i := slices.IndexFunc(p.entries, p.lost)
	if i < 0 {
		return nil
	}
	from, err := h.Timeline().CursorAt(ctx, p.entries[i].Seq)
	if err != nil {
		return err
	}
	recorded := map[string]bool{}
	for event, err := range h.Timeline().From(ctx, from) {
		var unreadable *timeline.LineError
		switch {
		case errors.As(err, &unreadable):
			p.doubtAll(recorded, unreadable)
		case err != nil:
			return err
		case event.Kind == timeline.KindSent:
			recorded[event.MID] = true
		}
	}
	return nil
}

// lost reports whether the queue lacked an entry of the plan.
func (p *plan) lost(e queue.Entry) bool { return !holds(p.found.Entries, e.MID) }

// doubtAll marks what was recorded before a line that cannot be read.
func (p *plan) doubtAll(recorded map[string]bool, unreadable *timeline.LineError) {
	for i := range p.entries {
		if e := &p.entries[i]; e.Doubt == "" && recorded[e.MID] && p.lost(*e) {
			e.Doubt = "it may be delivered or revoked: the queue had lost it, and a line behind it cannot be read: " + unreadable.Error()
			p.done.Doubtful = append(p.done.Doubtful, e.MID)
		}
	}
}

// rebuild carries the plan out, and notes that queue and timeline agree.
func (d *Dispatcher) rebuild(h *handle, held *lock.Record, p *plan) error {
	if p.done.Changes() || !inOrder(p.entries, p.found.Entries) {
		var err error
		if p.done.Aside, err = h.queue.Rebuild(held, p.entries); err != nil {
			return err
		}
	}
	return held.Recovered()
}

// merge joins what the queue holds with what the timeline proves, in the order of
// the timeline and with its bytes.
func (d *Dispatcher) merge(ctx context.Context, h *handle, p *plan, owed []timeline.Debt, restarted bool) error {
	proven := make(map[string]queue.Entry, len(owed))
	taken := make(map[uint64]bool, len(owed))
	for _, o := range owed {
		e := debt(o.Sent)
		e.Seq, e.HasSeq = o.Seq, true
		proven[e.MID], taken[e.Seq] = e, true
	}
	fates, err := d.fates(ctx, h, p.found.Entries, proven)
	if err != nil {
		return err
	}
	done, seen := &p.done, map[string]bool{}
	for _, e := range p.found.Entries {
		if seen[e.MID] {
			continue
		}
		seen[e.MID] = true
		accepted, isProven := proven[e.MID]
		_, recorded := fates[e.MID]
		switch {
		case isProven && sameDebt(e, accepted):
			e.Seq, e.HasSeq = accepted.Seq, true
			done.Kept = append(done.Kept, e.MID)
		case isProven:
			accepted.Doubt = e.Doubt
			e = accepted // what is known of its hand-over stands beside the list
			done.Restored = append(done.Restored, e.MID)
		case e.HasSeq && taken[e.Seq] || !keep(&e, fates, restarted):
			done.Dropped = append(done.Dropped, e.MID)
			if !recorded {
				done.Unrecorded = append(done.Unrecorded, e)
			}
			continue
		default:
			p.unrecorded[e.MID] = !recorded
			done.Kept = append(done.Kept, e.MID)
		}
		p.entries = append(p.entries, e)
	}
	for _, o := range owed {
		if !seen[o.Sent.MID] {
			done.Restored = append(done.Restored, o.Sent.MID)
			p.entries = append(p.entries, proven[o.Sent.MID])
		}
	}
	p.sort()
	return nil
}

// fates looks up what became of the entries that no private line proves to be owed.
func (d *Dispatcher) fates(ctx context.Context, h *handle, queued []queue.Entry, proven map[string]queue.Entry) (map[string]timeline.Fate, error) {
	var unproven []string
	for _, e := range queued {
		if _, ok := proven[e.MID]; !ok {
			unproven = append(unproven, e.MID)
		}
	}
	if len(unproven) == 0 {
		return nil, nil
	}
	return h.Timeline().Fates(ctx, unproven...)
}

// sameDebt reports whether the queue would hand over what was accepted.
func sameDebt(e, p queue.Entry) bool {
	return e.Text == p.Text && e.From == p.From && maps.Equal(e.Attributes, p.Attributes) &&
		(e.Dispatch == nil) == (p.Dispatch == nil) && (e.Dispatch == nil || *e.Dispatch == *p.Dispatch)
}

// keep decides about an entry that no private line proves to be owed: another
// writer's stays, one that is at an end goes. One without any line stays too,
// unless a power cut took the line: then its sender was never told of success.
func keep(e *queue.Entry, fates map[string]timeline.Fate, restarted bool) bool {
	fate, known := fates[e.MID]
	if !known {
		return !restarted
	}
	e.Seq, e.HasSeq = fate.Seq, true
	return !fate.Settled && !fate.Revoked
}

// sort brings the entries into the order of the timeline; one whose line it does not
// have stays behind the entry that it stood behind.
func (p *plan) sort() {
	place, last := make(map[string]uint64, len(p.entries)), uint64(0)
	for _, e := range p.entries {
		if e.HasSeq && !p.unrecorded[e.MID] {
			last = e.Seq
		}
		place[e.MID] = last
	}
	slices.SortStableFunc(p.entries, func(a, b queue.Entry) int { return cmp.Compare(place[a.MID], place[b.MID]) })
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
