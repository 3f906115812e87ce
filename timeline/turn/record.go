package turn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/lock/step"
	"github.com/docket-go/docket/timeline/segment"
)

// record appends the event that prepare returns, and returns it once it is durable,
// with the turn that was the last one then.
// Prepare is called with mu held, when the event's place in the log is settled: what
// it looks at stays true until the event is there. Its error is returned as it is,
// and nothing is written.
func (w *Writer) record(ctx context.Context, prepare func() (Event, error)) (Event, *track, error) {
	if err := w.order.Acquire(ctx, 1); err != nil {
		return Event{}, nil, w.log.wrap(context.Cause(ctx))
	}
	e, place, err := w.write(ctx, prepare)
	last := w.life.last // it changes under order only
	w.order.Release(1)
	if err != nil {
		w.tell()
		return Event{}, nil, err
	}
	step.At("turn: written, not synced")
	if err := w.commit(e.Seq, place); err != nil {
		return Event{}, nil, err
	}
	return e, last, nil
}

// write makes the event and appends it, under the record lock. The caller holds
// order.
func (w *Writer) write(ctx context.Context, prepare func() (Event, error)) (Event, segment.Written, error) {
	e, err := w.make(prepare)
	if err != nil {
		return Event{}, segment.Written{}, err
	}
	held, err := w.locks.Record(ctx)
	if err != nil && ctx.Err() != nil {
		return Event{}, segment.Written{}, translated(err) // nothing was tried
	}
	if err != nil {
		return Event{}, segment.Written{}, w.fail(err)
	}
	place, err := w.append(held, e)
	if err = errors.Join(err, held.Release()); err != nil {
		return Event{}, segment.Written{}, w.fail(err)
	}
	e.Next = w.log.cursor(place.Epoch, e.Seq+1)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.life.add(e)
	if e.Kind() == KindFinished {
		w.pending = &due{w.life.last, place}
	}
	return e.shown(), place, nil
}

// make lets prepare make an event and gives it sequence and time.
func (w *Writer) make(prepare func() (Event, error)) (Event, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.down != nil {
		return Event{}, w.down
	}
	e, err := prepare()
	if err != nil {
		return Event{}, err
	}
	e.Seq, e.Time = w.life.next, w.o.Now().UTC().Truncate(time.Millisecond)
	if err := w.life.check(e); err != nil {
		return Event{}, fmt.Errorf("session %s: %w: %w", w.log.session, ErrEvent, err)
	}
	return e, nil
}

// append writes the event where this Writer believes the log to end, or not at all:
// a writer that got past the turns lock is noticed here.
func (w *Writer) append(held *lock.Record, e Event) (segment.Written, error) {
	next, err := w.engine.NextSeq(held)
	if err != nil {
		return segment.Written{}, err
	}
	if next != e.Seq {
		return segment.Written{}, fmt.Errorf("%w: the log ends at event %d, this writer is at %d", ErrWriter, next, e.Seq)
	}
	return w.engine.Write(held, e.append(nil, true))
}

// commit returns nil once the event with the sequence seq, which stands at place, is
// durable, and lets the readers see it.
func (w *Writer) commit(seq uint64, place segment.Written) error {
	if err := w.engine.Sync(place); err != nil {
		err = w.fail(err)
		w.tell()
		return err
	}
	step.At("turn: synced")
	w.mu.Lock()
	defer w.mu.Unlock()
	if seq >= w.durable {
		w.durable = seq + 1
		w.broadcast()
	}
	return nil
}

// fail faults the Writer, and returns the error that says so. The first cause stands.
func (w *Writer) fail(cause error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.down == nil {
		w.down = fmt.Errorf("session %s: %w: %w", w.log.session, ErrFaulted, translated(cause))
		w.broadcast()
	}
	return w.down
}

// tell calls Options.Faulted, once, if the Writer is faulted. No lock is held then,
// so that the callee may use the Writer.
func (w *Writer) tell() {
	err := w.Err()
	if w.o.Faulted == nil || !errors.Is(err, ErrFaulted) || w.told.Swap(true) {
		return
	}
	w.o.Faulted(err)
}

// shown returns the event as readers see it: without the turn's token.
func (e Event) shown() Event {
	if s, ok := e.Payload.(Started); ok {
		s.Token = ""
		e.Payload = s
	}
	return e
}
