package turn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/segment"
)

// History yields the events from the cursor on, until the end that the log has when
// it is reached. Reading is all it does: nothing that an event tells of happens again.
//
// The error is [timeline.ErrMalformedCursor], [timeline.ErrForeignCursor] or
// [timeline.ErrFutureCursor] for a cursor that does not fit; an [*InvalidError] where
// the log cannot be read or gone on with; [timeline.ErrClosed], the context's or one of
// the system. It ends the iteration.
func (l *Log) History(ctx context.Context, from timeline.Cursor) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		r, err := l.open(ctx, from)
		if err != nil {
			yield(Event{}, err)
			return
		}
		defer r.close()
		for {
			e, err := r.next(ctx)
			if err == io.EOF {
				return
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// Recent returns the last n events, oldest first, and the cursor behind them. It reads
// from the end, at a cost that does not grow with the log. Errors are as for
// [Log.History].
func (l *Log) Recent(ctx context.Context, n int) ([]Event, timeline.Cursor, error) {
	v, err := l.segments.View(ctx)
	if err != nil {
		return nil, timeline.Cursor{}, l.wrap(err)
	}
	var events []Event
	err = l.backward(ctx, v, func(e Event) bool {
		if len(events) < n {
			events = append(events, e)
		}
		return len(events) < n
	})
	slices.Reverse(events)
	return events, l.cursor(v.Epoch(), l.until(v)), err
}

// Latest returns the newest event that belongs to a turn, and false before the first:
// while that is not [Finished], the turn is open. It reads from the end.
func (l *Log) Latest(ctx context.Context) (e Event, ok bool, err error) {
	v, err := l.segments.View(ctx)
	if err != nil {
		return Event{}, false, l.wrap(err)
	}
	err = l.backward(ctx, v, func(newest Event) bool {
		if ok = newest.Turn != ""; ok {
			e = newest
		}
		return !ok
	})
	return e, ok && err == nil, err
}

// backward gives the events of v to more, newest first, until that returns false.
func (l *Log) backward(ctx context.Context, v *segment.View, more func(Event) bool) error {
	end := l.until(v)
	for at, err := range v.Backward(ctx) {
		if err != nil {
			return l.wrap(err)
		}
		if at.Header {
			continue
		}
		e, err := l.decode(at, v.Epoch())
		if err != nil {
			return l.invalid(at, err)
		}
		if e.Seq < end && !more(e.shown()) {
			return nil
		}
	}
	return nil
}

// Answers returns the event that started the latest turn for the message mid, and
// false if there is none. It opens only the segments that may hold such an event.
func (l *Log) Answers(ctx context.Context, mid string) (Event, bool, error) {
	v, err := l.segments.View(ctx)
	if err != nil {
		return Event{}, false, l.wrap(err)
	}
	end := l.until(v)
	for at, err := range l.segments.FindKey(ctx, midKey(mid), nil) {
		if err != nil {
			return Event{}, false, l.wrap(err)
		}
		e, err := l.decode(at, v.Epoch())
		if err != nil {
			return Event{}, false, l.invalid(at, err)
		}
		if s, ok := e.Payload.(Started); ok && s.MID == mid && e.Seq < end {
			return e.shown(), true, nil
		}
	}
	return Event{}, false, nil
}

// A reader reads events in order and can go on when the log has grown.
type reader struct {
	log   *Log
	lines *segment.Reader
	end   uint64 // of the log, when the reader was opened
	seq   uint64 // of the next event
	ahead *Event // read already, but not to be shown yet
}

// open returns a reader at the cursor, if that is a place in the log.
func (l *Log) open(ctx context.Context, at timeline.Cursor) (*reader, error) {
	v, err := l.segments.View(ctx)
	if err != nil {
		return nil, l.wrap(err)
	}
	r := &reader{log: l, end: l.until(v), seq: at.Seq()}
	if err := at.Fits(l.session, v.Epoch(), r.end); err != nil {
		return nil, l.wrap(err)
	}
	if r.lines, err = l.segments.Reader(ctx, r.seq); err != nil {
		return nil, l.wrap(err)
	}
	return r, nil
}

func (r *reader) close() { _ = r.lines.Close() } // it was only read

// next returns the next event that may be shown, or io.EOF if there is none now.
func (r *reader) next(ctx context.Context) (Event, error) {
	end, _, _ := r.log.horizon()
	if r.seq >= end {
		return Event{}, io.EOF
	}
	if r.ahead == nil {
		e, err := r.read(ctx)
		if err != nil {
			return Event{}, err
		}
		r.ahead = &e
	}
	e := *r.ahead
	r.ahead, r.seq = nil, r.seq+1
	return e.shown(), nil
}

// read returns the next event of the files.
func (r *reader) read(ctx context.Context) (Event, error) {
	for {
		at, err := r.lines.Next(ctx)
		if err == io.EOF {
			return Event{}, io.EOF
		}
		if err != nil {
			return Event{}, r.failed(err)
		}
		if at.Header {
			continue
		}
		e, err := r.log.decode(at, r.lines.Epoch())
		if err == nil && e.Seq != r.seq {
			err = fmt.Errorf("%w: %w: event %d should stand there", ErrInvalid, errGap, r.seq)
		}
		if err != nil {
			return Event{}, r.log.invalid(at, err)
		}
		return e, nil
	}
}

// failed says what a failing read means: a log that is shorter than it was is not
// one that can be gone on with.
func (r *reader) failed(err error) error {
	var damage *segment.CorruptError
	if errors.As(err, &damage) {
		return r.log.invalid(segment.Line{Seq: r.seq, Err: damage}, fmt.Errorf("%w: %w", ErrInvalid, damage.Err))
	}
	return r.log.wrap(err)
}

// horizon returns the sequence before which events may be shown, a channel that is
// closed when that changes, and why it will not change any more. Whoever reads
// without the Writer sees what is in the files.
func (l *Log) horizon() (end uint64, changed <-chan struct{}, down error) {
	w := l.writer
	if w == nil {
		return math.MaxUint64, nil, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.durable, w.changed, w.down
}
