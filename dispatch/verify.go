package dispatch

import (
	"context"
	"errors"
	"fmt"

	"github.com/docket-go/docket/lock"
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
)

// A Disagreement is a message about which queue and timeline say different things.
// It is [ErrForgotten], [ErrEnded], [ErrAltered] or [ErrUnrecorded] to errors.Is.
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
// was interrupted, leaves for the next holder to complete is not among them.
//
// The error is that of a file that cannot be read at all, or of the record lock.
func (d *Dispatcher) Disagreements(ctx context.Context, id string) ([]*Disagreement, error) {
	h, err := d.handles.get(id)
	if err != nil {
		return nil, err
	}
	defer d.handles.put(h)
	held, err := h.Locks().Record(ctx)
	switch {
	case errors.Is(err, lock.ErrReadOnly), errors.Is(err, lock.ErrUnsupported):
		// Nobody can change the files there.
	case err != nil:
		return nil, err
	case held.Interrupted():
		return nil, held.Release()
	}
	defer held.Release()
	var queued []owing
	var mids []string
	_, err = h.queue.Scan(func(_ queue.Place, e queue.Entry) error {
		queued, mids = append(queued, owing{mid: e.MID, bytes: fingerprintOf(e)}), append(mids, e.MID)
		return nil
	})
	if err != nil {
		return nil, err
	}
	owed, err := h.Timeline().OwedMIDs(ctx)
	if err != nil {
		return nil, err
	}
	fates, err := fatesOf(ctx, h, mids)
	if err != nil {
		return nil, err
	}
	return disagreements(id, queued, owed, fates), nil
}

func disagreements(id string, queued []owing, owed []string, fates map[string]fate) []*Disagreement {
	var all []*Disagreement
	in := make(map[string]bool, len(queued))
	for _, o := range queued {
		in[o.mid] = true
		f, known := fates[o.mid]
		switch {
		case !known:
			all = append(all, &Disagreement{id, o.mid, ErrUnrecorded})
		case f.ended:
			all = append(all, &Disagreement{id, o.mid, ErrEnded})
		case f.ours && o.bytes != f.bytes:
			all = append(all, &Disagreement{id, o.mid, ErrAltered})
		}
	}
	for _, mid := range owed {
		if !in[mid] {
			all = append(all, &Disagreement{id, mid, ErrForgotten})
		}
	}
	return all
}
