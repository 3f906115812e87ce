package dispatch

import (
	"context"
	"errors"
	"iter"
	"math"

	"github.com/docket-go/docket/queue"
	"github.com/docket-go/docket/timeline"
)

// windowSize bounds how many entries of the queue, and how many debts, are held against
// each other at once.
const windowSize = 2048

// errDisorder says that the queue is not in the order of the timeline, so that the two
// cannot be held against each other window by window.
var errDisorder = errors.New("dispatch: the queue is not in the order of the timeline")

// A walk goes through queue and timeline side by side, in the order of both, and tells of
// one window after the other. Each entry of the queue is in one of them, and each debt
// that the timeline proves; memory holds no more than one. What is found out about a
// message in its window is what would be found out if one window had all of them, as
// whatever could make a difference is disorder:
//
//   - No message whose line the timeline has is in two windows, and an entry and its debt
//     are in one: an entry whose line is before the window, or behind the debts that are
//     loaded, is disorder, whatever sequence it claims.
//   - Whether a debt has the sequence that an entry claims is known as far as the debts
//     are loaded. Where it counts, and the entry claims another one, that is disorder.
//
// An entry may lack its sequence, or have a wrong one, and so may what another program
// enqueued. After disorder all begins anew with one window: memory grows with the queue
// then. No program of docket leaves it.
type walk struct {
	h      *handle
	size   int                 // of a window; zero is no bound
	behind uint64              // debts before are left out
	each   func(*window) error // is told of a window, which is valid during the call
	list   func(each func(queue.Place, queue.Entry) error) (queue.Inspection, error)
	debts  func() (owing, error, bool)

	queued []owing
	loaded []owing // the debts that come next
	next   *owing  // the one behind them; nil if there is none
	low    uint64  // all debts before are in earlier windows
	begun  bool    // there is an earlier window
}

// A window is a part of the queue, and what the timeline says about the same messages.
type window struct {
	queued []owing         // in the order of the queue
	owed   []owing         // in the order of the timeline
	proven map[string]int  // where in owed a message is
	taken  map[uint64]bool // the sequences of the debts
	fates  map[string]fate // of what the queue holds without being owed by proof
	whole  bool            // there is no other window
}

// inWindows makes walks until one finds its queue in order, which one without a bound
// always does.
func (d *Dispatcher) inWindows(walk func(size int) error) error {
	err := walk(d.window)
	if errors.Is(err, errDisorder) {
		err = walk(0)
	}
	return err
}

// through makes the walk. What else it is to owe, extra, may be nil.
func (w *walk) through(ctx context.Context, extra *owing) (queue.Inspection, error) {
	var stop func()
	w.debts, stop = iter.Pull2(owedWith(w.h.Timeline().Debts(ctx), extra, w.behind))
	defer stop()
	if err := w.load(); err != nil {
		return queue.Inspection{}, err
	}
	found, err := w.list(func(at queue.Place, e queue.Entry) error {
		o := owing{mid: e.MID, seq: e.Seq, hasSeq: e.HasSeq, doubt: e.Doubt, bytes: fingerprintOf(e), at: at}
		for w.full(o) {
			if err := w.move(ctx, false); err != nil {
				return err
			}
		}
		w.queued = append(w.queued, o)
		return nil
	})
	for err == nil && w.next != nil {
		err = w.move(ctx, false)
	}
	if err == nil {
		err = w.move(ctx, true)
	}
	return found, err
}

// owedWith yields the debts that are not before a sequence, and one more at its place.
func owedWith(debts iter.Seq2[timeline.Debt, error], extra *owing, behind uint64) iter.Seq2[owing, error] {
	return func(yield func(owing, error) bool) {
		for o, err := range debts {
			if err == nil && o.Seq < behind {
				continue
			}
			if err == nil && extra != nil && extra.seq < o.Seq {
				if !yield(*extra, nil) {
					return
				}
				extra = nil
			}
			if !yield(owing{mid: o.Sent.MID, seq: o.Seq, hasSeq: true, bytes: fingerprintOf(debt(o.Sent)), restored: true}, err) || err != nil {
				return
			}
		}
		if extra != nil {
			yield(*extra, nil)
		}
	}
}

// load takes as many debts as a window holds.
func (w *walk) load() error {
	for {
		if w.next != nil {
			if w.size > 0 && len(w.loaded) >= w.size {
				return nil
			}
			w.loaded, w.next = append(w.loaded, *w.next), nil
		}
		o, err, more := w.debts()
		if err != nil || !more {
			return err
		}
		w.next = &o
	}
}

// full reports whether the entry belongs to a later window.
func (w *walk) full(o owing) bool {
	return w.size > 0 && len(w.queued) >= w.size || w.next != nil && o.hasSeq && o.seq >= w.next.seq
}

// move tells of a window and begins the next. Without an entry in it, all its debts are
// lost to the queue; otherwise it ends with the last of its entries, and the debts behind
// that are in the next.
func (w *walk) move(ctx context.Context, last bool) error {
	win := &window{queued: w.queued, whole: last && !w.begun, proven: make(map[string]int, len(w.loaded)), taken: make(map[uint64]bool, len(w.loaded))}
	for i, o := range w.loaded {
		if win.proven[o.mid] = i; o.entry == nil {
			win.taken[o.seq] = true
		}
	}
	if err := win.lookUp(ctx, w.h); err != nil {
		return err
	}
	end, err := w.end(win, last)
	if err != nil {
		return err
	}
	n := 0
	for n < len(w.loaded) && w.loaded[n].seq < end {
		n++
	}
	win.owed = w.loaded[:n:n]
	if err := w.each(win); err != nil {
		return err
	}
	w.queued, w.loaded = w.queued[:0], append(w.loaded[:0], w.loaded[n:]...)
	w.low, w.begun = end, true
	return w.load()
}

// lookUp looks up what became of the entries that no private line proves to be owed.
func (win *window) lookUp(ctx context.Context, h *handle) (err error) {
	var unproven []string
	for _, o := range win.queued {
		if _, ok := win.proven[o.mid]; !ok {
			unproven = append(unproven, o.mid)
		}
	}
	win.fates, err = fatesOf(ctx, h, unproven)
	return err
}

// end is the sequence before which the window ends.
func (w *walk) end(win *window, last bool) (uint64, error) {
	end := w.low
	for _, o := range win.queued {
		seq, known, err := w.line(win, o)
		if err != nil && !win.whole {
			return 0, err
		}
		if known {
			end = max(end, seq+1)
		}
	}
	switch {
	case last:
		end = math.MaxUint64
	case len(win.queued) == 0:
		end = w.next.seq
	}
	return end, nil
}

// line is the sequence of the line of an entry, if the timeline has it. The error is
// errDisorder if the entry does not belong to the window.
func (w *walk) line(win *window, o owing) (seq uint64, known bool, err error) {
	if i, ok := win.proven[o.mid]; ok {
		return w.loaded[i].seq, true, nil
	}
	f, known := win.fates[o.mid]
	claims := o.hasSeq && (!known || !f.ended && o.seq != f.seq)
	if known && !w.spans(f.seq) || claims && !w.spans(o.seq) {
		err = errDisorder
	}
	return f.seq, known, err
}

// spans reports whether all debts around a sequence are loaded.
func (w *walk) spans(seq uint64) bool { return seq >= w.low && (w.next == nil || seq < w.next.seq) }

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
