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
	request := m.requestDigest()
	if h.Timeline().Lacks(held, m.Operation, request) {
		return Accepted{}, false, nil
	}
	found, ok, err := h.Timeline().Receipt(ctx, m.Operation, request)
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
	return a, true, d.restore(ctx, h, held, found)
}

// restore owes a recorded message that no line says is at an end, if the queue does
// not hold it. What the queue lacks is what Repair would put back, at its place: of
// our own messages those that the timeline proves to be owed, as the line that says
// how this one ended may be one that cannot be read any more.
func (d *Dispatcher) restore(ctx context.Context, h *handle, held *lock.Record, found timeline.Found) error {
	owed, err := h.queue.Find(found.Sent.MID)
	if err != nil || len(owed) > 0 {
		return err
	}
	from := planning{h: h}
	if found.Sent.NoDebt {
		e := debt(found.Sent)
		from.extra = &owing{mid: e.MID, seq: found.Seq, hasSeq: true, entry: &e}
	}
	p, err := d.plan(ctx, held, from)
	if err != nil {
		return err
	}
	return p.rebuild(ctx, held)
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
