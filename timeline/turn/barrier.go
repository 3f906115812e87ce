package turn

import (
	"context"
	"fmt"

	"github.com/docket-go/docket/lock/step"
)

// Ready returns nil when a turn can start: none is open, and what belonged to the
// last one is cleared. A cleanup that is under way is waited for, and one that is due
// is done. The error is an [*ActiveError], a [*BarrierError], [ErrFaulted],
// [ErrWriterClosed] or the context's.
func (w *Writer) Ready(ctx context.Context) error {
	w.mu.Lock()
	err, pending := w.down, w.pending
	if t := w.life.open(); err == nil && t != nil {
		err = w.activeError(t)
	}
	w.mu.Unlock()
	if err != nil || pending == nil {
		return err
	}
	return w.clear(ctx, pending.track)
}

// busy is Ready at this moment: with mu held, and without doing anything.
func (w *Writer) busy() error {
	if t := w.life.open(); t != nil {
		return w.activeError(t)
	}
	if w.pending != nil {
		return errPending
	}
	return nil
}

func (w *Writer) activeError(t *track) error {
	return &ActiveError{Session: w.log.session, Turn: t.started.Turn, MID: t.started.Payload.(Started).MID}
}

// clear runs the barrier of the finished turn t, if that is still due: what another
// caller completed meanwhile is not done again, and an old turn's cleanup can never
// run while a newer one is there, because that starts only when nothing is due.
func (w *Writer) clear(ctx context.Context, t *track) error {
	if err := w.clearing.Acquire(ctx, 1); err != nil {
		return w.log.wrap(context.Cause(ctx))
	}
	defer w.clearing.Release(1)
	w.mu.Lock()
	pending := w.pending
	w.mu.Unlock()
	if pending == nil || pending.track != t {
		return nil
	}
	if err := w.commit(t.finished.Seq, pending.place); err != nil {
		return err
	}
	step.At("turn: finished, not cleared")
	if err := callBarrier(ctx, w.o.Barrier, *t.finished); err != nil {
		return &BarrierError{Session: w.log.session, Turn: t.started.Turn, Err: err}
	}
	step.At("turn: cleared")
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pending = nil
	return nil
}

// callBarrier turns a panic into an error: the turn stays to be cleared.
func callBarrier(ctx context.Context, barrier func(context.Context, Event) error, finished Event) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	if barrier == nil {
		return nil
	}
	return barrier(ctx, finished)
}
