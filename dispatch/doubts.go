package dispatch

import (
	"context"
	"errors"
	"iter"

	"github.com/docket-go/docket/timeline"
)

// Doubts finds for one message after the other, in the order of the timeline, what cannot
// be read behind its line. It reads the timeline once, and keeps its place.
type doubts struct {
	next func() (timeline.Event, error, bool)
	stop func()

	passed     uint64              // events before were read
	unreadable *timeline.LineError // the line that was found last; nil if none was
	at         uint64              // the event before which it stands
	ended      bool
}

// doubt marks those of the entries that the queue did not hold and whose end may stand in
// a line that cannot be read any more.
func (p *plan) doubt(ctx context.Context, entries []owing) error {
	for i := range entries {
		o := &entries[i]
		if !o.lost || o.entry != nil {
			continue
		}
		unreadable, err := p.doubts.behind(ctx, p.h.Timeline(), o.seq)
		if err != nil {
			return err
		}
		if unreadable != nil {
			o.doubt = "it may be delivered or revoked: the queue had lost it, and a line behind it cannot be read: " + unreadable.Error()
			p.tell(&p.done.Doubtful, o.mid)
		}
	}
	return nil
}

// behind returns the first line behind the event that cannot be read, or nil. The
// sequences that it is called with grow.
func (d *doubts) behind(ctx context.Context, l *timeline.Log, seq uint64) (*timeline.LineError, error) {
	if d.next == nil {
		from, err := l.CursorAt(ctx, seq)
		if err != nil {
			return nil, err
		}
		d.next, d.stop = iter.Pull2(l.From(ctx, from))
	}
	for !d.ended && (d.unreadable == nil || d.at <= seq) {
		event, err, more := d.next()
		var unreadable *timeline.LineError
		switch {
		case !more:
			d.ended = true
		case errors.As(err, &unreadable):
			d.unreadable, d.at = unreadable, d.passed
		case err != nil:
			return nil, err
		default:
			d.passed = event.Seq + 1
		}
	}
	if d.ended {
		return nil, nil
	}
	return d.unreadable, nil
}

func (d *doubts) close() {
	if d.stop != nil {
		d.stop()
	}
}
