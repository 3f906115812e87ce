package timeline

import (
	"context"
	"iter"
)

// A Page is the end of a log.
type Page struct {
	Events []Event      // oldest first
	Next   Cursor       // after the last event
	Bad    []*LineError // the unreadable lines among them, oldest first
}

// Tail returns the last n events. It reads from the end, so that the cost does
// not grow with the log. It takes no lock and is safe beside writers.
func (l *Log) Tail(ctx context.Context, n int) (Page, error) { return Page{}, errSkeleton }

// From yields the events from the cursor c on, until the end that the log has
// when it is reached. The error is [ErrMalformedCursor], [ErrForeignCursor],
// [ErrFutureCursor] or [ErrClosed], and ends the iteration; a [*LineError] stands
// for one unreadable line and does not.
func (l *Log) From(ctx context.Context, c Cursor) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) { yield(Event{}, errSkeleton) }
}

// All is [Log.From] the first event.
func (l *Log) All(ctx context.Context) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) { yield(Event{}, errSkeleton) }
}

// CursorOf returns the cursor after e, which must be an event of this log.
func (l *Log) CursorOf(ctx context.Context, e Event) (Cursor, error) {
	return l.CursorAt(ctx, e.Seq+1)
}
