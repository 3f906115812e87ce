package dispatch

import (
	"context"
	"fmt"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/timeline"
)

// replay finds the message that the key stands for. Its debt is put back if it
// was lost between the line and the queue.
func (d *Dispatcher) replay(ctx context.Context, h *handle, held *lock.Record, m Message) (Accepted, bool, error) {
	found, ok, err := h.Timeline().Receipt(ctx, m.Operation, m.requestDigest())
	if err != nil || !ok {
		return Accepted{}, false, err
	}
	if found.Sent.Receipt.PayloadHash != m.payloadHash() {
		return Accepted{}, false, fmt.Errorf("%w: operation %s, message %s: take a new key for new content", ErrKeyReused, m.Operation, found.Sent.MID)
	}
	next, err := h.Timeline().CursorAt(ctx, found.Seq+1)
	if err != nil {
		return Accepted{}, false, err
	}
	a := Accepted{Session: h.ID(), MID: found.Sent.MID, Replayed: true, Delivered: found.Settled, Cursor: next}
	if found.Settled || found.Revoked {
		return a, true, nil
	}
	return a, true, d.restore(h, held, found)
}

// restore owes a recorded message that is neither settled nor revoked, if the
// queue does not hold it.
func (d *Dispatcher) restore(h *handle, held *lock.Record, found timeline.Found) error {
	owed, err := h.queue.List()
	if err != nil {
		return err
	}
	for _, e := range owed {
		if e.MID == found.Sent.MID {
			return nil
		}
	}
	e := debt(found.Sent)
	e.Seq, e.HasSeq = found.Seq, true
	return h.queue.Enqueue(held, e)
}

// promiseReplay gives a replayed send the same promise as the first one had: its
// process may have died before the sync.
func (d *Dispatcher) promiseReplay(ctx context.Context, h *handle, a Accepted, err error) (Accepted, error) {
	if err != nil {
		return a, err
	}
	if err := h.syncAll(ctx); err != nil {
		return a, inDoubt(a.MID, err)
	}
	return a, nil
}
