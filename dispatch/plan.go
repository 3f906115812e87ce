package dispatch

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"iter"
	"slices"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/lock/step"
	"github.com/docket-go/docket/queue"
)

// A plan is what the queue has to become for it to say what the timeline proves. It is
// made window by window (see walk), and what one window is to hold is kept only if there
// is no other. Otherwise the plan is made anew while the queue is written, window by
// window, and the new queue takes its place only if it is what was planned.
type plan struct {
	planning
	found   queue.Inspection
	done    Repaired // without the messages, if nobody wants to know them
	lost    []string // those of done.Restored that the queue did not hold
	changed bool     // a message goes, or is put back
	moved   bool     // one is to stand elsewhere

	whole []owing   // what the queue is to hold, if one window holds all
	many  bool      // there is more than one
	sum   hash.Hash // of what the queue is to hold

	last   uint64 // behind the line of the last message that stays
	top    uint64 // behind the lines of all messages that earlier windows are to hold
	doubts doubts
}

// A planning is what a plan is made from, beside the files, and how.
type planning struct {
	h         *handle
	restarted bool   // the machine, since the last holder of the record lock
	told      bool   // the messages are wanted
	extra     *owing // what else is owed; may be nil
	behind    uint64 // debts before are not to be put back
	size      int    // of a window
}

// errEnough ends a walk.
var errEnough = errors.New("dispatch: enough")

func (d *Dispatcher) plan(ctx context.Context, held *lock.Record, from planning) (p *plan, err error) {
	from.restarted = held.Restarted()
	err = d.inWindows(func(size int) error {
		from.size = size
		p = from.plan()
		return p.make(ctx, func(entries []owing) error {
			if !p.many {
				p.whole = entries
			}
			return nil
		})
	})
	return p, err
}

func (from planning) plan() *plan {
	return &plan{planning: from, done: Repaired{Session: from.h.ID()}, sum: sha256.New()}
}

// make decides about all messages, and calls each with what the queue is to hold, in its
// order, part by part. A part is valid during the call, or for good if it is the only one.
func (p *plan) make(ctx context.Context, each func([]owing) error) (err error) {
	defer p.doubts.close()
	w := walk{h: p.h, size: p.size, behind: p.behind, list: p.h.queue.Scan, each: func(win *window) error {
		p.many = !win.whole
		entries, err := p.decide(ctx, win)
		if err != nil {
			return err
		}
		p.moved = p.moved || !inOrder(entries, win.queued)
		for _, o := range entries {
			o.writeTo(p.sum)
		}
		return each(entries)
	}}
	p.found, err = w.through(ctx, p.extra)
	p.done.Fault = p.found.Err()
	p.done.Restored = append(p.done.Restored, p.lost...)
	return err
}

// decide returns what the queue is to hold of the messages of a window.
func (p *plan) decide(ctx context.Context, win *window) ([]owing, error) {
	entries, err := p.merge(win)
	if err == nil {
		err = p.sort(entries)
	}
	if err == nil {
		err = p.once(win)
	}
	if err == nil {
		err = p.doubt(ctx, entries)
	}
	return entries, err
}

// merge joins what the queue holds with what the timeline proves to be owed, with its
// bytes.
func (p *plan) merge(win *window) (entries []owing, err error) {
	done, seen := &p.done, make(map[string]bool, len(win.queued))
	for _, o := range win.queued {
		if seen[o.mid] {
			p.change(&done.Doubled, o.mid)
			continue
		}
		seen[o.mid] = true
		at, isProven := win.proven[o.mid]
		_, recorded := win.fates[o.mid]
		switch {
		case isProven && o.bytes == win.owed[at].bytes:
			o.seq, o.hasSeq = win.owed[at].seq, true
			p.tell(&done.Kept, o.mid)
		case isProven:
			doubt := o.doubt
			o = win.owed[at]
			o.doubt = doubt // what is known of its hand-over stands beside the list
			p.change(&done.Restored, o.mid)
		case o.hasSeq && win.taken[o.seq] || !keep(&o, win.fates, p.restarted):
			if err := p.drop(o, recorded); err != nil {
				return nil, err
			}
			continue
		default:
			o.unrecorded = !recorded
			p.tell(&done.Kept, o.mid)
		}
		entries = append(entries, o)
	}
	for _, o := range win.owed {
		if !seen[o.mid] {
			o.lost = true
			p.change(&p.lost, o.mid)
			entries = append(entries, o)
		}
	}
	return entries, nil
}

func (p *plan) tell(mids *[]string, mid string) {
	if p.told {
		*mids = append(*mids, mid)
	}
}

func (p *plan) change(mids *[]string, mid string) {
	p.changed = true
	p.tell(mids, mid)
}

// drop notes that a message goes, and keeps what nothing else has.
func (p *plan) drop(o owing, recorded bool) error {
	p.change(&p.done.Dropped, o.mid)
	if recorded || !p.told {
		return nil
	}
	list := p.h.queue.Reading()
	defer list.Close()
	e, err := o.queued(list)
	if err == nil {
		p.done.Unrecorded = append(p.done.Unrecorded, e)
	}
	return err
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

// sort brings entries into the order of the timeline; one whose line it does not have
// stays behind the entry that it stood behind. If that was in an earlier window, nothing
// may have come between.
func (p *plan) sort(entries []owing) error {
	top := p.top
	for i := range entries {
		o := &entries[i]
		switch {
		case o.lost:
			o.place = o.seq + 1
		case o.unrecorded && p.last < p.top:
			return errDisorder
		case o.unrecorded:
			o.place = p.last
		default:
			o.place = o.seq + 1
			p.done.Moved = p.done.Moved || o.place < p.last
			p.last = o.place
		}
		top = max(top, o.place)
	}
	p.top = top
	slices.SortStableFunc(entries, func(a, b owing) int { return cmp.Compare(a.place, b.place) })
	return nil
}

func inOrder(a, b []owing) bool {
	return slices.EqualFunc(a, b, func(x, y owing) bool { return x.mid == y.mid })
}

// once looks whether the messages of a window that the timeline does not hold are in
// another one too: nothing but the whole queue tells.
func (p *plan) once(win *window) error {
	left := map[string]int{}
	for _, o := range win.queued {
		_, isProven := win.proven[o.mid]
		if _, recorded := win.fates[o.mid]; !isProven && !recorded {
			left[o.mid]++
		}
	}
	if win.whole || len(left) == 0 {
		return nil
	}
	_, err := p.h.queue.Scan(func(_ queue.Place, e queue.Entry) error {
		if n, asked := left[e.MID]; asked && n == 0 {
			return errDisorder
		} else if asked {
			left[e.MID] = n - 1
		}
		return nil
	})
	return err
}

// changes reports whether the queue is to be written.
func (p *plan) changes() bool { return p.done.Fault != nil || p.changed || p.moved }

// rebuild carries the plan out, and notes that queue and timeline agree.
func (p *plan) rebuild(ctx context.Context, held *lock.Record) error {
	var err error
	if p.changes() {
		step.At("dispatch: repair planned")
		p.done.Aside, err = p.h.queue.RebuildFrom(held, p.list(ctx))
	} else {
		err = p.h.queue.Trust(held)
	}
	if err != nil {
		return err
	}
	return held.Recovered()
}

// list yields the entries of the plan, with their texts.
func (p *plan) list(ctx context.Context) iter.Seq2[queue.Entry, error] {
	return func(yield func(queue.Entry, error) bool) {
		list := p.h.queue.Reading()
		defer list.Close()
		if !p.many {
			p.write(ctx, p.whole, list, yield)
			return
		}
		from := p.planning
		from.told = false
		again := from.plan()
		err := again.make(ctx, func(entries []owing) error {
			if !p.write(ctx, entries, list, yield) {
				return errEnough
			}
			step.At("dispatch: part of the queue written")
			return nil
		})
		if errors.Is(err, errDisorder) || err == nil && !bytes.Equal(again.sum.Sum(nil), p.sum.Sum(nil)) {
			err = fmt.Errorf("%w: it was changed while it was repaired: repair it again", queue.ErrCorrupt)
		}
		if err != nil && !errors.Is(err, errEnough) {
			yield(queue.Entry{}, err)
		}
	}
}

// write yields entries, and reports whether to go on.
func (p *plan) write(ctx context.Context, entries []owing, list *queue.Reading, yield func(queue.Entry, error) bool) bool {
	next, stop := iter.Pull2(p.h.Timeline().Messages(ctx, restored(entries)))
	defer stop()
	for _, o := range entries {
		e, err := o.read(list, next)
		e.Seq, e.HasSeq, e.Doubt = o.seq, o.hasSeq, o.doubt
		if !yield(e, err) || err != nil {
			return false
		}
	}
	return true
}

// restored yields the sequences of what comes from the timeline.
func restored(entries []owing) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for _, o := range entries {
			if o.restored && !yield(o.seq) {
				return
			}
		}
	}
}
