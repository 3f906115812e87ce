package turn

import (
	"context"
	"errors"
	"fmt"
)

// A Turn is the capability to write on one exact turn. It never stands for another
// one, whatever happens. It is safe for concurrent use.
type Turn struct {
	w     *Writer
	track *track
}

var errPending = errors.New("barrier is due")

// Start begins a turn: it makes the id and appends [Started], which is durable when
// Start returns nil. Dispatch to the agent after that, with the turn's token; if the
// dispatch fails, call [Turn.SubmitFailed].
//
// Start first completes the cleanup after the turn before, if that is due; see
// [Options.Barrier]. The error is an [*ActiveError] while a turn is open, a
// [*BarrierError], or as for [Turn.Emit]. After [ErrFaulted] by a failed sync the
// turn may be in the log, as one that was never dispatched. If the process dies
// inside, the turn is in the log, open, or is not.
func (w *Writer) Start(ctx context.Context, s Started) (*Turn, error) {
	if err := w.check(Native{}, s); err != nil {
		return nil, err
	}
	for {
		if err := w.Ready(ctx); err != nil {
			return nil, err
		}
		_, t, err := w.record(ctx, func() (Event, error) {
			if err := w.busy(); err != nil {
				return Event{}, err
			}
			random := w.o.NewID()
			if !isRandom(random) {
				return Event{}, fmt.Errorf("session %s: %w: NewID gave %q", w.log.session, ErrEvent, random)
			}
			return Event{Turn: newID(w.life.turn+1, random), Payload: s}, nil
		})
		if errors.Is(err, errPending) {
			continue // another turn came and went meanwhile
		}
		if err != nil {
			return nil, err
		}
		return &Turn{w, t}, nil
	}
}

// Publish appends a fact about the session. It belongs to no turn, and may come at
// any time; what the broker numbered on a turn is for [Turn.Publish]. Errors are as for
// [Turn.Emit]; a Writer knows at most 64 names.
func (w *Writer) Publish(ctx context.Context, n Native, s State) (Event, error) {
	err := w.check(n, s)
	if err == nil && n.Broker != 0 {
		err = fmt.Errorf("session %s: %w: broker sequence %d without a turn", w.log.session, ErrEvent, n.Broker)
	}
	if err != nil {
		return Event{}, err
	}
	e, _, err := w.record(ctx, func() (Event, error) { return Event{Native: n, Payload: s}, nil })
	return e, err
}

// Emit appends an event of the turn. Nil means that it is recorded, durable, and
// seen by readers. The caller must not hold the session's record lock, which every
// append takes.
//
// The error is [ErrFinished] when the turn is finished; [ErrReplayed] when n.Broker
// is not greater than [Turn.Broker]; [ErrText], a [*timeline.TooLargeError] or
// [ErrEvent] when the event cannot be stored; [ErrWriterClosed]; or the context's,
// while the event waited for its turn. Nothing was written then.
//
// Any other error is [ErrFaulted]: the event is not recorded, and so nothing that
// comes after it will be. Only after a failed sync it may be in the log all the same.
// If the process dies inside, the event is there whole or not at all.
func (t *Turn) Emit(ctx context.Context, n Native, p Emission) (Event, error) {
	return t.add(ctx, t.ID(), n, p)
}

// Publish is [Writer.Publish] for a fact that the turn's producer tells. The event is
// the session's, and outlasts the turn; but it counts for [Turn.Broker] and is refused
// when the turn is finished. Errors are as for [Turn.Emit].
func (t *Turn) Publish(ctx context.Context, n Native, s State) (Event, error) {
	return t.add(ctx, "", n, s)
}

// add appends an event of the turn's producer, unless the turn is finished.
func (t *Turn) add(ctx context.Context, turn string, n Native, p Payload) (Event, error) {
	if err := t.w.check(n, p); err != nil {
		return Event{}, err
	}
	e, _, err := t.w.record(ctx, func() (Event, error) {
		if t.track.finished != nil {
			return Event{}, fmt.Errorf("session %s: %w: %s", t.w.log.session, ErrFinished, t.ID())
		}
		return t.event(turn, n, p)
	})
	return e, err
}

// Finish ends the turn, and then clears what belongs to it; see [Options.Barrier].
// Nil means that the event is durable and the cleanup is complete.
//
// On a turn that is finished already, nothing is written: the same outcome returns
// the event that stands, whatever code and diagnostic say, and completes the cleanup
// if it is still due; another outcome is a [*TerminalConflictError]. A
// [*BarrierError] comes with the event: the turn is finished, the cleanup is due.
// Other errors are as for [Turn.Emit].
func (t *Turn) Finish(ctx context.Context, n Native, f Finished) (Event, error) {
	first, err := t.end(ctx, n, f)
	if err != nil {
		return first, err
	}
	if stands := first.Payload.(Finished); stands.Outcome != f.Outcome {
		return Event{}, &TerminalConflictError{Session: t.w.log.session, First: first, Refused: f}
	}
	return first, t.w.clear(ctx, t.track)
}

// End is [Turn.Finish] for who only knows that the turn cannot go on, such as one who
// sees the agent's process exit: if the turn is finished already, however, the event
// that stands is returned, and no error.
func (t *Turn) End(ctx context.Context, n Native, f Finished) (Event, error) {
	first, err := t.end(ctx, n, f)
	if err != nil {
		return first, err
	}
	return first, t.w.clear(ctx, t.track)
}

// SubmitFailed is [Turn.End] with [Failure] and [CodeSubmitFailed]: the turn was
// started and its prompt did not reach the agent. If the producer finished the turn
// before the dispatch said that it failed, the producer's word stands.
func (t *Turn) SubmitFailed(ctx context.Context, diagnostic string) (Event, error) {
	return t.End(ctx, Native{}, Finished{Failure, CodeSubmitFailed, diagnostic})
}

// end appends the terminal, or returns the one that the turn has.
func (t *Turn) end(ctx context.Context, n Native, f Finished) (Event, error) {
	if err := t.w.check(n, f); err != nil {
		return Event{}, err
	}
	var first *Event
	e, _, err := t.w.record(ctx, func() (Event, error) {
		if first = t.track.finished; first != nil {
			return Event{}, ErrFinished
		}
		return t.event(t.ID(), n, f)
	})
	if first != nil {
		return *first, nil
	}
	return e, err
}

// event returns an event of this turn's producer, unless the broker gave its number
// before. It is called from prepare.
func (t *Turn) event(turn string, n Native, p Payload) (Event, error) {
	if n.Broker != 0 && n.Broker <= t.track.broker {
		return Event{}, fmt.Errorf("session %s: %w: %d of turn %s, which is at %d", t.w.log.session, ErrReplayed, n.Broker, t.ID(), t.track.broker)
	}
	return Event{Turn: turn, Native: n, Payload: p}, nil
}

// check refuses what cannot be stored, before anything is waited for.
func (w *Writer) check(n Native, p Payload) error {
	if err := checkPayload(n, p, w.o.MaxTextBytes); err != nil {
		return fmt.Errorf("session %s: %w", w.log.session, err)
	}
	return nil
}

// ID returns the turn's id, which the log gave it. It is unique in the log.
func (t *Turn) ID() string { return t.track.started.Turn }

// Number returns which turn of the session this is, counted from 1.
func (t *Turn) Number() uint64 { return t.track.started.TurnNumber() }

// Started returns the event that began the turn.
func (t *Turn) Started() Event { return t.track.started }

// MID returns the message that the turn answers, or an empty string.
func (t *Turn) MID() string { return t.track.started.Payload.(Started).MID }

// Token returns the opaque name under which the producer knows the turn.
func (t *Turn) Token() string { return t.track.token }

// Broker returns the greatest broker sequence that a committed event of the turn
// bears: a surviving broker has to replay what comes after it.
func (t *Turn) Broker() uint64 {
	t.w.mu.Lock()
	defer t.w.mu.Unlock()
	return t.track.broker
}

// Finished returns the event that ended the turn, and false while it is open.
func (t *Turn) Finished() (Event, bool) {
	t.w.mu.Lock()
	defer t.w.mu.Unlock()
	if t.track.finished == nil {
		return Event{}, false
	}
	return *t.track.finished, true
}
