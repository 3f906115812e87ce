package timeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"

	"github.com/docket-go/docket/timeline/segment"
)

// From yields the events from the cursor c on, until the end that the log has
// when it is reached. The error is [ErrMalformedCursor], [ErrForeignCursor],
// [ErrFutureCursor], [ErrClosed], ctx's or one of the system, and ends the
// iteration; a [*LineError] stands for one unreadable line and does not. From
// takes no lock and its memory does not grow with the log. Each event has memory of
// its own.
func (l *Log) From(ctx context.Context, c Cursor) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		v, err := l.segments.View(ctx)
		if err == nil {
			err = c.Fits(l.session, v.Epoch(), v.End())
		}
		if err != nil {
			yield(Event{}, l.wrap(err))
			return
		}
		r, err := v.Reader(ctx, c.seq)
		l.read(ctx, r, err, yield)
	}
}

// All is [Log.From] the first event.
func (l *Log) All(ctx context.Context) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		r, err := l.segments.Reader(ctx, 0)
		l.read(ctx, r, err, yield)
	}
}

// read yields what r reads and closes it. An error of making it ends the iteration.
func (l *Log) read(ctx context.Context, r *segment.Reader, err error, yield func(Event, error) bool) {
	if err != nil {
		yield(Event{}, l.wrap(err))
		return
	}
	defer r.Close()
	for {
		e, err := l.next(ctx, r)
		if errors.Is(err, io.EOF) {
			return
		}
		if !yield(e, err) || ends(err) {
			return
		}
	}
}

// next returns the next public event. The error is io.EOF at the end of the log,
// and a [*LineError] for an unreadable line; behind that, next goes on.
func (l *Log) next(ctx context.Context, r *segment.Reader) (e Event, err error) {
	at, err := l.lend(ctx, r)
	if err != nil {
		return Event{}, err
	}
	if bad := l.decode(at, nil, &e); bad != nil {
		return Event{}, bad
	}
	return e, nil
}

// lend returns the next line that is not private, which is r's own until the next call.
// The error is io.EOF at the end of the log.
func (l *Log) lend(ctx context.Context, r *segment.Reader) (*segment.Line, error) {
	for {
		at, err := r.Lend(ctx)
		if err == io.EOF {
			return nil, io.EOF
		}
		if err != nil {
			return nil, l.wrap(err)
		}
		if at.Class != segment.Private {
			return at, nil
		}
	}
}

// ends reports whether an iteration cannot go on after err.
func ends(err error) bool {
	if err == nil {
		return false
	}
	var bad *LineError
	return !errors.As(err, &bad)
}

// decode makes e, which must be zero, the event of a line that is not private. Of an
// unreadable one it returns what is wrong with it.
func (l *Log) decode(at *segment.Line, own *copies, e *Event) (bad *LineError) {
	if at.Class == segment.Public && at.Intact && e.fromShape(at, own) {
		return nil
	}
	*e = Event{}
	p, err := parse(at.Bytes)
	if at.Class == segment.Public && err == nil {
		*e = p.event(at.Seq, own.of(p.raw))
		return nil
	}
	bad = &LineError{Path: l.segmentPath(at.Segment), Offset: at.Offset, Err: err}
	var damage *segment.CorruptError
	if errors.As(at.Err, &damage) {
		bad.Path, bad.Offset = damage.Path, damage.Offset
		if err == nil || len(at.Bytes) == 0 {
			bad.Err = damage.Err
		}
	}
	return bad
}

func (l *Log) segmentPath(number uint64) string {
	if number == 0 {
		return filepath.Join(l.dir, legacyFile)
	}
	return filepath.Join(l.dir, segmentsDir, fmt.Sprintf("%012d.ndjson", number))
}

// Start returns the cursor before the first event.
func (l *Log) Start(ctx context.Context) (Cursor, error) { return l.CursorAt(ctx, 0) }

// End returns the cursor after the last event.
func (l *Log) End(ctx context.Context) (Cursor, error) {
	v, err := l.segments.View(ctx)
	if err != nil {
		return Cursor{}, l.wrap(err)
	}
	return l.cursor(v.Epoch(), v.End()), nil
}

// CursorAt returns the cursor before the event with the sequence seq. The error
// is [ErrFutureCursor] when the log has fewer events.
func (l *Log) CursorAt(ctx context.Context, seq uint64) (Cursor, error) {
	v, err := l.segments.View(ctx)
	if err != nil {
		return Cursor{}, l.wrap(err)
	}
	c := l.cursor(v.Epoch(), seq)
	if err := c.Fits(l.session, v.Epoch(), v.End()); err != nil {
		return Cursor{}, l.wrap(err)
	}
	return c, nil
}

// CursorAfter returns the cursor after e, which must be an event of this log.
func (l *Log) CursorAfter(ctx context.Context, e Event) (Cursor, error) {
	return l.CursorAt(ctx, e.Seq+1)
}
