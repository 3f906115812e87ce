package queue

import (
	"context"
	"errors"

	"github.com/docket-go/docket/lock"
)

// A turn is the way of one entry up to its claim.
type turn struct {
	*pass
	entry      Entry
	generation uint64 // of the hold in which Check said Hand
	over       bool   // nothing is owed any more
	ask        bool   // Ready has to be asked
	claimed    bool   // it is to be handed over
}

// look reads the oldest entry and checks it. If there is nothing to ask Ready, it
// claims it at once.
func (t *turn) look(ctx context.Context, held *lock.Record) error {
	e, found, err := t.q.Head(held)
	if t.over = err == nil && !found; t.over && t.Over != nil {
		return t.Over()
	}
	if err != nil || t.over {
		return err
	}
	if err := t.before(ctx); err != nil {
		return err
	}
	t.entry, t.generation = e, held.Generation()
	verdict, err := t.check(ctx, held, e)
	switch {
	case err != nil || verdict != Hand:
		return t.conclude(ctx, held, e, verdict, err)
	case t.Ready == nil && e.Unconfirmed():
		return t.notReady(held, e, ErrUnconfirmed)
	case t.Ready != nil && (e.Unconfirmed() || t.Unasked == nil || !t.Unasked(e)):
		t.ask = true
		return nil
	}
	return t.claim(held)
}

func (t *turn) claim(held *lock.Record) error {
	t.claimed = true
	return t.q.Claim(held, t.entry.MID)
}

// before says whether the pass goes on to another entry.
func (t *turn) before(ctx context.Context) error {
	if t.Before != nil {
		if err := t.Before(ctx); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// decide comes after Ready: unless the entry has changed meanwhile, it claims it or
// does what Ready said instead.
func (t *turn) decide(ctx context.Context, held *lock.Record, verdict Verdict, readyErr error) error {
	e := t.entry
	now, found, err := t.q.Head(held)
	if err != nil || !found || now.MID != e.MID || !now.Claimed.Equal(e.Claimed) {
		return err
	}
	if err := ctx.Err(); err != nil && (readyErr == nil || errors.Is(err, context.Canceled)) {
		// Who calls a pass off has not been refused by the harness.
		return &StoppedError{MID: e.MID, Answer: e.state(), Err: errors.Join(err, readyErr)}
	}
	if readyErr == nil && held.Generation() != t.generation {
		if again, err := t.check(ctx, held, e); err != nil || again != Hand {
			return t.conclude(ctx, held, e, again, err)
		}
	}
	if readyErr != nil || verdict != Hand {
		return t.conclude(ctx, held, e, verdict, readyErr)
	}
	return t.claim(held)
}
