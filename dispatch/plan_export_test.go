package dispatch

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/docket-go/docket/queue"
	"github.com/docket-go/docket/timeline"
)

// SetWindow lets a short queue be held against its timeline in many parts; zero makes it
// one part.
func SetWindow(d *Dispatcher, size int) { d.window = size }

// SetGroup lets few messages be taken back in many changes.
func SetGroup(d *Dispatcher, size int) { d.group = size }

// InOrder reports whether a plan is made window by window, without beginning anew.
func InOrder(ctx context.Context, d *Dispatcher, id string) (in bool, err error) {
	h, err := d.handles.get(id)
	if err != nil {
		return false, err
	}
	defer d.handles.put(h)
	err = planning{h: h, size: d.window}.plan().make(ctx, func([]owing) error { return nil })
	return err == nil, err
}

// A Whole is what a repair does and a look finds that keep everything at once: what
// window by window is to come to the same.
type Whole struct {
	Repaired
	Entries []queue.Entry // of the queue afterwards
	Wrong   []*Disagreement
	Writes  bool

	ctx     context.Context
	h       *handle
	queued  []owing
	owed    []owing
	entries []owing
	fates   map[string]fate
	in      map[string]bool
	absent  map[string]bool // has no line
}

// PlanWhole plans a repair of all at once.
func PlanWhole(ctx context.Context, d *Dispatcher, id string) (*Whole, error) {
	h, err := d.handles.get(id)
	if err != nil {
		return nil, err
	}
	defer d.handles.put(h)
	held, err := h.Locks().Record(ctx)
	if err != nil {
		return nil, err
	}
	defer held.Release()
	w := &Whole{Repaired: Repaired{Session: id}, ctx: ctx, h: h, in: map[string]bool{}, absent: map[string]bool{}}
	if err := w.read(); err != nil {
		return nil, err
	}
	w.compare()
	if err := w.merge(held.Restarted()); err != nil {
		return nil, err
	}
	w.sort()
	if err := w.doubt(); err != nil {
		return nil, err
	}
	w.Writes = w.Changes() || !inOrder(w.entries, w.queued)
	return w, w.texts()
}

func (w *Whole) read() error {
	var mids []string
	found, err := w.h.queue.Scan(func(at queue.Place, e queue.Entry) error {
		w.queued = append(w.queued, owing{mid: e.MID, seq: e.Seq, hasSeq: e.HasSeq, doubt: e.Doubt, bytes: fingerprintOf(e), at: at})
		mids, w.in[e.MID] = append(mids, e.MID), true
		return nil
	})
	if err != nil {
		return err
	}
	w.Fault = found.Err()
	for o, err := range w.h.Timeline().Debts(w.ctx) {
		if err != nil {
			return err
		}
		e := debt(o.Sent)
		w.owed = append(w.owed, owing{mid: o.Sent.MID, seq: o.Seq, hasSeq: true, bytes: fingerprintOf(e), entry: &e})
	}
	w.fates, err = fatesOf(w.ctx, w.h, mids)
	return err
}

func (w *Whole) compare() {
	seen, last := map[string]bool{}, uint64(0)
	for _, o := range w.queued {
		f, known := w.fates[o.mid]
		before, twice := last, seen[o.mid]
		seen[o.mid] = true
		if known && !f.ended {
			last = max(last, f.seq)
		}
		switch {
		case twice && known:
			w.Wrong = append(w.Wrong, &Disagreement{w.Session, o.mid, ErrDoubled})
		case !known:
			w.Wrong = append(w.Wrong, &Disagreement{w.Session, o.mid, ErrUnrecorded})
		case f.ended:
			w.Wrong = append(w.Wrong, &Disagreement{w.Session, o.mid, ErrEnded})
		case f.ours && o.bytes != f.bytes:
			w.Wrong = append(w.Wrong, &Disagreement{w.Session, o.mid, ErrAltered})
		case f.seq < before:
			w.Wrong = append(w.Wrong, &Disagreement{w.Session, o.mid, ErrOvertaken})
		}
	}
	for _, o := range w.owed {
		if !w.in[o.mid] {
			w.Wrong = append(w.Wrong, &Disagreement{w.Session, o.mid, ErrForgotten})
		}
	}
}

func (w *Whole) merge(restarted bool) error {
	proven, taken, seen := map[string]owing{}, map[uint64]bool{}, map[string]bool{}
	for _, o := range w.owed {
		proven[o.mid], taken[o.seq] = o, true
	}
	for _, o := range w.queued {
		if seen[o.mid] {
			w.Doubled = append(w.Doubled, o.mid)
			continue
		}
		seen[o.mid] = true
		accepted, isProven := proven[o.mid]
		_, recorded := w.fates[o.mid]
		switch {
		case isProven && o.bytes == accepted.bytes:
			o.seq, o.hasSeq = accepted.seq, true
			w.Kept = append(w.Kept, o.mid)
		case isProven:
			accepted.doubt = o.doubt
			o = accepted
			w.Restored = append(w.Restored, o.mid)
		case o.hasSeq && taken[o.seq] || !keep(&o, w.fates, restarted):
			w.Dropped = append(w.Dropped, o.mid)
			if !recorded {
				list := w.h.queue.Reading()
				defer list.Close()
				e, err := o.queued(list)
				if err != nil {
					return err
				}
				w.Unrecorded = append(w.Unrecorded, e)
			}
			continue
		default:
			w.absent[o.mid] = !recorded
			w.Kept = append(w.Kept, o.mid)
		}
		w.entries = append(w.entries, o)
	}
	for _, o := range w.owed {
		if !seen[o.mid] {
			w.Restored, w.entries = append(w.Restored, o.mid), append(w.entries, o)
		}
	}
	return nil
}

func (w *Whole) sort() {
	place, last := map[string]uint64{}, uint64(0)
	for _, o := range w.entries {
		if o.hasSeq && !w.absent[o.mid] {
			w.Moved = w.Moved || w.in[o.mid] && o.seq < last
			last = o.seq
		}
		place[o.mid] = last
	}
	slices.SortStableFunc(w.entries, func(a, b owing) int { return cmp.Compare(place[a.mid], place[b.mid]) })
}

// doubt looks at each lost message by itself.
func (w *Whole) doubt() error {
	for i := range w.entries {
		o := &w.entries[i]
		if w.in[o.mid] {
			continue
		}
		from, err := w.h.Timeline().CursorAt(w.ctx, o.seq)
		if err != nil {
			return err
		}
		recorded := false
		for event, err := range w.h.Timeline().From(w.ctx, from) {
			var unreadable *timeline.LineError
			if recorded = recorded || event.MID == o.mid; recorded && errors.As(err, &unreadable) {
				o.doubt = "it may be delivered or revoked: the queue had lost it, and a line behind it cannot be read: " + unreadable.Error()
				w.Doubtful = append(w.Doubtful, o.mid)
				break
			}
		}
	}
	return nil
}

func (w *Whole) texts() error {
	list := w.h.queue.Reading()
	defer list.Close()
	for _, o := range w.entries {
		e, err := queue.Entry{}, error(nil)
		if o.entry != nil {
			e = *o.entry
		} else if e, err = o.queued(list); err != nil {
			return err
		}
		e.Seq, e.HasSeq, e.Doubt = o.seq, o.hasSeq, o.doubt
		w.Entries = append(w.Entries, e)
	}
	return nil
}
