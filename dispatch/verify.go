package dispatch

import (
	"context"
	"errors"
	"fmt"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/lock/step"
	"github.com/docket-go/docket/queue"
)

var (
	// ErrForgotten marks a message that the timeline proves to be owed and the queue
	// does not hold.
	ErrForgotten = errors.New("dispatch: owed, and not in the queue")

	// ErrEnded marks a message that the queue holds although the timeline proves that
	// it was delivered or revoked.
	ErrEnded = errors.New("dispatch: at an end, and still in the queue")

	// ErrAltered marks a message that the queue would hand over with other bytes than
	// were accepted.
	ErrAltered = errors.New("dispatch: the queue holds other bytes than were accepted")

	// ErrDoubled marks a message that the queue holds twice, and would hand over so. One
	// that is [ErrUnrecorded] is that each time.
	ErrDoubled = errors.New("dispatch: twice in the queue")

	// ErrOvertaken marks a message that stands in the queue behind one that was sent
	// after it.
	ErrOvertaken = errors.New("dispatch: in the queue behind one that was sent after it")
)

// A Disagreement is a message about which queue and timeline say different things.
// It is [ErrForgotten], [ErrEnded], [ErrAltered], [ErrDoubled], [ErrOvertaken] or
// [ErrUnrecorded] to errors.Is.
type Disagreement struct {
	Session string
	MID     string
	Err     error
}

func (e *Disagreement) Error() string {
	return fmt.Sprintf("session %s: message %s: %v", e.Session, e.MID, e.Err)
}

// Unwrap returns what they disagree about.
func (e *Disagreement) Unwrap() error { return e.Err }

// Disagreements holds queue and timeline of a session against each other. It changes
// nothing; [Dispatcher.Repair] makes them agree. What a change that is under way, or
// was interrupted, leaves for the next holder to complete is not among them. Memory grows
// with what it returns, and with the queue only where that is out of order.
//
// It keeps nobody from the record lock while it reads: it takes it for a moment before,
// to see that no change is half done. If it finds something it reads again, three times
// in all, and returns what it found each time. So one that lasts for the whole call is
// always found, and one that is returned was there at one moment of the call at least.
//
// The error is that of a file that cannot be read at all, or of the record lock.
func (d *Dispatcher) Disagreements(ctx context.Context, id string) (all []*Disagreement, err error) {
	h, err := d.handles.get(id)
	if err != nil {
		return nil, err
	}
	defer d.handles.put(h)
	for reading := range readings {
		if whole, err := isWhole(ctx, h); err != nil || !whole {
			return nil, err
		}
		found, err := d.disagreements(ctx, h)
		if err != nil {
			return nil, err
		}
		if reading > 0 {
			found = inBoth(found, all)
		}
		if all = found; len(all) == 0 {
			break
		}
	}
	return all, nil
}

// readings is how often what is found has to be found. A message is accepted once and
// ends once, each in one hold of the record lock, and no hold lasts from one reading to
// the next: two of them at most can fall into a change of what is said of a message.
const readings = 3

// isWhole takes the record lock for a moment, and reports that no change is half done.
// Where there is no lock, nobody can change the files.
func isWhole(ctx context.Context, h *handle) (bool, error) {
	held, err := h.Locks().Record(ctx)
	if errors.Is(err, lock.ErrReadOnly) || errors.Is(err, lock.ErrUnsupported) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return !held.Interrupted(), held.Release()
}

// disagreements reads queue and timeline once, without a lock.
func (d *Dispatcher) disagreements(ctx context.Context, h *handle) (all []*Disagreement, err error) {
	err = d.inWindows(func(size int) error {
		said := disagreements{session: h.ID()}
		w := walk{h: h, size: size, list: h.listed, each: func(win *window) error {
			step.At("dispatch: part of the queue compared")
			return said.take(win)
		}}
		if _, err := w.through(ctx, nil); err != nil {
			return err
		}
		all = append(said.queued, said.forgotten...)
		return nil
	})
	return all, err
}

// listed calls each with what is owed, as [queue.Queue.All] yields it. What cannot be read is
// left out.
func (h *handle) listed(each func(queue.Place, queue.Entry) error) (in queue.Inspection, err error) {
	for e, err := range h.queue.All() {
		if errors.Is(err, queue.ErrCorrupt) {
			break
		}
		if err == nil {
			err = each(queue.Place{}, e)
		}
		if err != nil {
			return in, err
		}
	}
	return in, nil
}

// inBoth returns those that both have.
func inBoth(some, others []*Disagreement) (both []*Disagreement) {
	left := make(map[Disagreement]int, len(others))
	for _, o := range others {
		left[*o]++
	}
	for _, s := range some {
		if left[*s] > 0 {
			left[*s]--
			both = append(both, s)
		}
	}
	return both
}

// Disagreements of a session, in the order of the queue, and those about what it does not
// hold in that of the timeline.
type disagreements struct {
	session           string
	queued, forgotten []*Disagreement
	last              uint64 // the newest line of what the queue holds rightly
}

// take adds those of a window.
func (d *disagreements) take(win *window) error {
	in := make(map[string]bool, len(win.queued))
	for _, o := range win.queued {
		err := d.about(win, o)
		if in[o.mid] && !errors.Is(err, ErrUnrecorded) {
			err = ErrDoubled
		}
		in[o.mid] = true
		if err != nil {
			d.queued = append(d.queued, &Disagreement{d.session, o.mid, err})
		}
	}
	for _, o := range win.owed {
		if !in[o.mid] {
			d.forgotten = append(d.forgotten, &Disagreement{d.session, o.mid, ErrForgotten})
		}
	}
	return nil
}

// about returns what is wrong with an entry of the queue.
func (d *disagreements) about(win *window, o owing) error {
	f, known := win.fates[o.mid]
	if at, isProven := win.proven[o.mid]; isProven {
		f, known = fate{seq: win.owed[at].seq, ours: true, bytes: win.owed[at].bytes}, true
	}
	before := d.last
	if known && !f.ended {
		d.last = max(d.last, f.seq)
	}
	switch {
	case !known:
		return ErrUnrecorded
	case f.ended:
		return ErrEnded
	case f.ours && o.bytes != f.bytes:
		return ErrAltered
	case f.seq < before:
		return ErrOvertaken
	}
	return nil
}
