package dispatch

import (
	"context"
	"errors"
	"fmt"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
)

// check runs under the record lock: it voids what a closed sender still owes, stops
// at an entry that lies past the end of the timeline, and matches a keyed entry to
// its receipt.
func (p *pass) check(ctx context.Context, held *lock.Record, e queue.Entry) (queue.Verdict, error) {
	void, err := p.d.voided(e)
	if err != nil {
		return queue.Hand, err
	}
	if void {
		p.void = e.MID
		return queue.Drop, nil
	}
	if err := p.recorded(held, e); err != nil {
		return queue.Hand, err
	}
	if e.Dispatch == nil {
		return queue.Hand, nil
	}
	found, ok, err := p.h.Timeline().Receipt(ctx, e.Dispatch.Operation, e.Dispatch.RequestDigest)
	switch {
	case err != nil:
		return queue.Hand, err
	case !ok:
		return queue.Hand, fmt.Errorf("%w: none is in the timeline", ErrReceipt)
	case found.Sent.MID != e.MID, found.Sent.Receipt.Delivery.Text != e.Text, found.Sent.Receipt.Delivery.From != e.From:
		return queue.Hand, fmt.Errorf("%w: it says something else", ErrReceipt)
	case found.Settled, found.Revoked:
		return queue.Drop, nil
	}
	return queue.Hand, nil
}

// recorded costs no reading of the log: where it ends is known, and was there already
// where it ended before.
func (p *pass) recorded(held *lock.Record, e queue.Entry) error {
	if !e.HasSeq || e.Seq < p.logged {
		return nil
	}
	next, err := p.h.Timeline().NextSeq(held)
	if err == nil && e.Seq >= next {
		err = ErrUnrecorded
	}
	p.logged = max(p.logged, next)
	return err
}

// recordVoid writes why a dropped entry is owed no more, if nothing says so yet.
func (p *pass) recordVoid(_ context.Context, held *lock.Record, e queue.Entry) error {
	if p.void != e.MID {
		return nil
	}
	_, err := p.h.write(held, revocation(e, p.d.options.Now(), "its sender "+e.From+" was closed"))
	if err == nil {
		p.d.options.Counters.revoked([]string{e.MID})
		p.done.Voided = append(p.done.Voided, e.MID)
	}
	return err
}

// lookup decides about a message that was claimed before.
func (p *pass) lookup(ctx context.Context, e queue.Entry) (queue.Verdict, error) {
	presence, err := p.adapter.Lookup(ctx, e.MID)
	switch {
	case presence == adapter.Present:
		return queue.Settle, nil
	case presence == adapter.Absent, e.MID == p.options.Redeliver, p.adapter.Policy == adapter.Redeliver:
		return queue.Hand, nil
	}
	reason := "nobody saw how its last hand-over ended"
	if e.LastError != "" {
		reason = e.LastError
	}
	if err != nil {
		reason += ": looking it up: " + err.Error()
	}
	return queue.Hand, adapter.Unconfirm(adapter.Because(ErrHeld, errors.New(reason)))
}
