package dispatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/lock/step"
	"github.com/docket-go/docket/queue"
	"github.com/docket-go/docket/timeline"
)

// A plan is what the queue has to become for it to say what the timeline proves. It knows
// of each message what takes little memory; the texts stay where they are until the
// queue is written.
type plan struct {
	found      queue.Inspection
	queued     []owing         // what the queue holds
	entries    []owing         // what it is to hold
	unrecorded map[string]bool // mids of those whose line the timeline does not have
	done       Repaired
}

// An owing is a message that the queue holds, or is to hold. Its bytes are at its place
// in the queue, or those that the timeline has, or given.
type owing struct {
	mid      string
	seq      uint64
	hasSeq   bool
	doubt    string
	bytes    fingerprint
	at       queue.Place
	restored bool // as the timeline has it
	entry    *queue.Entry
}

func (d *Dispatcher) plan(ctx context.Context, h *handle, held *lock.Record) (*plan, error) {
	p := &plan{unrecorded: map[string]bool{}, done: Repaired{Session: h.ID()}}
	var err error
	p.found, err = h.queue.Scan(func(at queue.Place, e queue.Entry) error {
		p.queued = append(p.queued, owing{mid: e.MID, seq: e.Seq, hasSeq: e.HasSeq, doubt: e.Doubt, bytes: fingerprintOf(e), at: at})
		return nil
	})
	if err != nil {
		return p, err
	}
	p.done.Fault = p.found.Err()
	var owed []owing
	for o, err := range h.Timeline().Debts(ctx) {
		if err != nil {
			return p, err
		}
		owed = append(owed, owing{mid: o.Sent.MID, seq: o.Seq, hasSeq: true, bytes: fingerprintOf(debt(o.Sent)), restored: true})
	}
	if err = p.merge(ctx, h, owed, held.Restarted()); err == nil {
		err = p.doubt(ctx, h)
	}
	return p, err
}

// doubt marks what the queue did not hold and whose end may stand in a line that
// cannot be read any more.
func (p *plan) doubt(ctx context.Context, h *handle) error {
	lost := p.lost()
	if len(lost) == 0 {
		return nil
	}
	from, err := h.Timeline().CursorAt(ctx, p.entries[lost[0]].seq)
	if err != nil {
		return err
	}
	recorded := map[string]bool{} // of those that are lost
	for _, i := range lost {
		recorded[p.entries[i].mid] = false
	}
	for event, err := range h.Timeline().From(ctx, from) {
		var unreadable *timeline.LineError
		switch {
		case errors.As(err, &unreadable):
			lost = p.doubtAll(lost, recorded, unreadable)
		case err != nil:
			return err
		case event.Kind == timeline.KindSent:
			if _, asked := recorded[event.MID]; asked {
				recorded[event.MID] = true
			}
		}
	}
	return nil
}

// lost returns which entries of the plan the queue lacked.
func (p *plan) lost() (lost []int) {
	held := make(map[string]bool, len(p.queued))
	for _, o := range p.queued {
		held[o.mid] = true
	}
	for i, o := range p.entries {
		if !held[o.mid] {
			lost = append(lost, i)
		}
	}
	return lost
}

// doubtAll marks those of the lost entries that were recorded before a line that cannot
// be read, and returns the others.
func (p *plan) doubtAll(lost []int, recorded map[string]bool, unreadable *timeline.LineError) []int {
	return slices.DeleteFunc(lost, func(i int) bool {
		o := &p.entries[i]
		if !recorded[o.mid] {
			return false
		}
		if o.doubt == "" {
			o.doubt = "it may be delivered or revoked: the queue had lost it, and a line behind it cannot be read: " + unreadable.Error()
			p.done.Doubtful = append(p.done.Doubtful, o.mid)
		}
		return true
	})
}

// rebuild carries the plan out, and notes that queue and timeline agree.
func (d *Dispatcher) rebuild(ctx context.Context, h *handle, held *lock.Record, p *plan) error {
	if p.done.Changes() || !inOrder(p.entries, p.queued) {
		step.At("dispatch: repair planned")
		var err error
		if p.done.Aside, err = h.queue.RebuildFrom(held, p.list(ctx, h)); err != nil {
			return err
		}
	}
	return held.Recovered()
}

// list yields the entries of the plan, with their texts.
func (p *plan) list(ctx context.Context, h *handle) iter.Seq2[queue.Entry, error] {
	return func(yield func(queue.Entry, error) bool) {
		next, stop := iter.Pull2(h.Timeline().Messages(ctx, p.restored))
		defer stop()
		for _, o := range p.entries {
			e, err := o.read(h, next)
			e.Seq, e.HasSeq, e.Doubt = o.seq, o.hasSeq, o.doubt
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// restored yields the sequences of what comes from the timeline.
func (p *plan) restored(yield func(uint64) bool) {
	for _, o := range p.entries {
		if o.restored && !yield(o.seq) {
			return
		}
	}
}

func (o owing) read(h *handle, next func() (timeline.Debt, error, bool)) (queue.Entry, error) {
	switch {
	case o.entry != nil:
		return *o.entry, nil
	case !o.restored:
		return o.queued(h)
	}
	found, err, more := next()
	e := debt(found.Sent)
	if err == nil && !(more && o.is(e)) {
		err = fmt.Errorf("message %s: %w: its line is another one now", o.mid, timeline.ErrCorrupt)
	}
	return e, err
}

// queued reads the message from the queue. A file that somebody put in its place without
// the record lock may have another message there.
func (o owing) queued(h *handle) (queue.Entry, error) {
	e, err := h.queue.Read(o.at)
	if err == nil && !o.is(e) {
		err = fmt.Errorf("message %s: %w: another one is in its place now", o.mid, queue.ErrCorrupt)
	}
	return e, err
}

func (o owing) is(e queue.Entry) bool { return e.MID == o.mid && fingerprintOf(e) == o.bytes }

// merge joins what the queue holds with what the timeline proves to be owed, in the order
// of the timeline and with its bytes.
func (p *plan) merge(ctx context.Context, h *handle, owed []owing, restarted bool) error {
	proven := make(map[string]owing, len(owed))
	taken := make(map[uint64]bool, len(owed))
	for _, o := range owed {
		proven[o.mid], taken[o.seq] = o, true
	}
	fates, err := p.fates(ctx, h, proven)
	if err != nil {
		return err
	}
	done, seen := &p.done, map[string]bool{}
	for _, o := range p.queued {
		if seen[o.mid] {
			continue
		}
		seen[o.mid] = true
		accepted, isProven := proven[o.mid]
		_, recorded := fates[o.mid]
		switch {
		case isProven && o.bytes == accepted.bytes:
			o.seq, o.hasSeq = accepted.seq, true
			done.Kept = append(done.Kept, o.mid)
		case isProven:
			accepted.doubt = o.doubt
			o = accepted // what is known of its hand-over stands beside the list
			done.Restored = append(done.Restored, o.mid)
		case o.hasSeq && taken[o.seq] || !keep(&o, fates, restarted):
			if err := done.drop(h, o, recorded); err != nil {
				return err
			}
			continue
		default:
			p.unrecorded[o.mid] = !recorded
			done.Kept = append(done.Kept, o.mid)
		}
		p.entries = append(p.entries, o)
	}
	for _, o := range owed {
		if !seen[o.mid] {
			done.Restored = append(done.Restored, o.mid)
			p.entries = append(p.entries, o)
		}
	}
	p.sort()
	return nil
}

// drop notes that a message goes, and keeps what nothing else has.
func (r *Repaired) drop(h *handle, o owing, recorded bool) error {
	r.Dropped = append(r.Dropped, o.mid)
	if recorded {
		return nil
	}
	e, err := o.queued(h)
	if err == nil {
		r.Unrecorded = append(r.Unrecorded, e)
	}
	return err
}

// A fate is what the timeline proves about a message, without its text.
type fate struct {
	seq   uint64
	ended bool        // delivered or revoked
	ours  bool        // docket wrote it with a debt
	bytes fingerprint // of what was accepted, if it is ours
}

// fatesOf looks up what became of messages.
func fatesOf(ctx context.Context, h *handle, mids []string) (map[string]fate, error) {
	fates := make(map[string]fate, len(mids))
	err := h.Timeline().EachFate(ctx, mids, func(f timeline.Fate) {
		found := fate{seq: f.Seq, ended: f.Settled || f.Revoked, ours: f.Ours}
		if f.Ours {
			found.bytes = fingerprintOf(debt(f.Sent))
		}
		fates[f.Sent.MID] = found
	})
	return fates, err
}

// fates looks up what became of the entries that no private line proves to be owed.
func (p *plan) fates(ctx context.Context, h *handle, proven map[string]owing) (map[string]fate, error) {
	var unproven []string
	for _, o := range p.queued {
		if _, ok := proven[o.mid]; !ok {
			unproven = append(unproven, o.mid)
		}
	}
	return fatesOf(ctx, h, unproven)
}

// keep decides about an entry that no private line proves to be owed: another
// writer's stays, one that is at an end goes. One without any line stays too,
// unless a power cut took the line: then its sender was never told of success.
func keep(o *owing, fates map[string]fate, restarted bool) bool {
	f, known := fates[o.mid]
	if !known {
		return !restarted
	}
	o.seq, o.hasSeq = f.seq, true
	return !f.ended
}

// sort brings the entries into the order of the timeline; one whose line it does not
// have stays behind the entry that it stood behind.
func (p *plan) sort() {
	place, last := make(map[string]uint64, len(p.entries)), uint64(0)
	for _, o := range p.entries {
		if o.hasSeq && !p.unrecorded[o.mid] {
			last = o.seq
		}
		place[o.mid] = last
	}
	slices.SortStableFunc(p.entries, func(a, b owing) int { return cmp.Compare(place[a.mid], place[b.mid]) })
}

func inOrder(a, b []owing) bool {
	return slices.EqualFunc(a, b, func(x, y owing) bool { return x.mid == y.mid })
}
