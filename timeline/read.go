package timeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/docket-go/docket/timeline/segment"
)

// A Page is the end of a log.
type Page struct {
	Events []Event      // oldest first
	Next   Cursor       // after the last event
	Bad    []*LineError // the unreadable lines among them, oldest first
}

// After returns the cursor after e, which must be an event of the page.
func (p Page) After(e Event) Cursor {
	c := p.Next
	c.seq = e.Seq + 1
	return c
}

// Tail returns the last n events. It reads from the end, so that the cost does
// not grow with the log. It takes no lock and is safe beside writers. The events of a page
// share memory: whoever keeps a single one keeps 16 KiB of its neighbours at most. The
// error is [ErrClosed], ctx's or one of the system.
func (l *Log) Tail(ctx context.Context, n int) (Page, error) {
	v, err := l.segments.View(ctx)
	if err != nil {
		return Page{}, l.wrap(err)
	}
	page := Page{Next: l.cursor(v.Epoch(), v.End())}
	if n <= 0 {
		return page, nil
	}
	events := fromEnd{all: make([]Event, min(uint64(n), v.End(), 1024))}
	events.at = len(events.all)
	var lines copies
	for at, err := range v.Backward(ctx) {
		if err != nil {
			return Page{}, l.wrap(err)
		}
		if at.Class == segment.Private {
			continue
		}
		if bad := l.decode(&at, &lines, events.add()); bad != nil {
			events.undo()
			page.Bad = append(page.Bad, bad)
		}
		if len(events.all)-events.at == n {
			break
		}
	}
	page.Events = events.all[events.at:]
	slices.Reverse(page.Bad)
	return page, nil
}

// A fromEnd is filled from its end: all[at:] is what it has.
type fromEnd struct {
	all []Event
	at  int
}

// add returns the place for one more event.
func (f *fromEnd) add() *Event {
	if f.at == 0 {
		grown := make([]Event, max(1, 2*len(f.all)))
		f.at = len(grown) - len(f.all)
		copy(grown[f.at:], f.all)
		f.all = grown
	}
	f.at--
	return &f.all[f.at]
}

// undo takes back the last add.
func (f *fromEnd) undo() {
	f.all[f.at] = Event{}
	f.at++
}

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
	for {
		at, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			return Event{}, io.EOF
		}
		if err != nil {
			return Event{}, l.wrap(err)
		}
		if at.Class == segment.Private {
			continue
		}
		if bad := l.decode(&at, nil, &e); bad != nil {
			return Event{}, bad
		}
		return e, nil
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

// A copies copies lines that are kept together, many into one piece of memory. Nil
// copies each into memory of its own.
type copies struct{ b strings.Builder }

// piece is how much memory lines share, if none is longer.
const piece = 16 << 10

func (c *copies) of(raw []byte) string {
	if c == nil {
		return string(raw)
	}
	if c.b.Cap()-c.b.Len() < len(raw) {
		c.b = strings.Builder{}
		c.b.Grow(max(len(raw), piece))
	}
	from := c.b.Len()
	c.b.Write(raw)
	return c.b.String()[from:]
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
