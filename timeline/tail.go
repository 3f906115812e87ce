package timeline

import (
	"context"
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
func (l *Log) Tail(ctx context.Context, n int) (page Page, err error) {
	err = l.TailInto(ctx, &page, n)
	return page, err
}

// TailInto makes page what [Log.Tail] returns, and uses the memory that it has: it is for
// those who look at the end of a log again and again, and are done with what they saw
// before. Each line is read as by Tail; one whose event is in page already costs no new
// memory. Events that were copied out of page stay as they are. The errors are those of
// Tail, and leave no events in page.
func (l *Log) TailInto(ctx context.Context, page *Page, n int) error {
	before := page.Events
	*page = Page{Events: before[:0]}
	v, err := l.segments.View(ctx)
	if err != nil {
		return l.wrap(err)
	}
	n = max(n, 0)
	events := again(before, v.End(), n)
	bad, err := l.fillFrom(ctx, v, &events, n)
	if err != nil {
		return l.wrap(err)
	}
	*page = Page{Events: events.all[events.at:], Next: l.cursor(v.Epoch(), v.End()), Bad: bad}
	return nil
}

// fillFrom adds the last n events of a view, and returns what cannot be read among them.
func (l *Log) fillFrom(ctx context.Context, v *segment.View, events *fromEnd, n int) (bad []*LineError, err error) {
	if n == 0 {
		return nil, nil
	}
	var lines copies
	for at, err := range v.Backward(ctx) {
		if err != nil {
			return nil, err
		}
		if at.Class == segment.Private {
			continue
		}
		e := events.add()
		lines.had, *e = e.raw, Event{}
		if b := l.decode(&at, &lines, e); b != nil {
			events.undo()
			bad = append(bad, b)
		}
		if len(events.all)-events.at == n {
			break
		}
	}
	slices.Reverse(bad)
	return bad, nil
}

// A fromEnd is filled from its end: all[at:] is what it has.
type fromEnd struct {
	all []Event
	at  int
}

// mostAhead is for how many events there is room before they are found.
const mostAhead = 1024

// again is empty, and has room in the memory of before for the last n events of a log
// with the given end. Those of them that are in before lie where they will be added.
func again(before []Event, end uint64, n int) fromEnd {
	room := int(min(uint64(n), end, uint64(max(mostAhead, cap(before)))))
	all := before[:0]
	if cap(before) < room {
		all = make([]Event, 0, room)
	}
	all = all[:room]
	// Sequences have no gaps, so that the place of the last one tells that of the others.
	// Of a log where this is not so, more is copied.
	if have := len(before); have > 0 && end > before[have-1].Seq {
		to := room - int(min(end-1-before[have-1].Seq, uint64(room)))
		same := min(to, have)
		copy(all[to-same:], before[have-same:])
	}
	if cap(before) >= room {
		clear(before[min(room, len(before)):])
	}
	return fromEnd{all, room}
}

// add returns the place for one more event. What is there may be an earlier one.
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

// A copies copies lines that are kept together, many into one piece of memory. Nil
// copies each into memory of its own.
type copies struct {
	b    strings.Builder
	size int    // of the last piece
	had  string // a copy of the next line, if it is equal
}

// A piece of memory that lines share is at first small, since all but a few of them may
// be there already, and each piece is held as long as one of its lines.
const (
	firstPiece = 1 << 10
	mostPiece  = 16 << 10
)

func (c *copies) of(raw []byte) string {
	if c == nil {
		return string(raw)
	}
	if c.had == string(raw) {
		return c.had
	}
	if c.b.Cap()-c.b.Len() < len(raw) {
		c.size = min(max(2*c.size, firstPiece), mostPiece)
		c.b = strings.Builder{}
		c.b.Grow(max(len(raw), c.size))
	}
	from := c.b.Len()
	c.b.Write(raw)
	return c.b.String()[from:]
}
