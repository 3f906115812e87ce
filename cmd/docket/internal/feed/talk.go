package feed

import (
	"context"
	"errors"

	"github.com/docket-go/docket/cmd/docket/internal/top"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

// pageEvents is how many events are read at a time.
const pageEvents = 300

// Converse sends the last events of a session, and then each one as it is committed,
// until ctx ends, which is no error.
func (f *Feed) Converse(ctx context.Context, id string, send func(top.Page)) error {
	err := f.with(id, func(s *session.Session) error {
		page, err := s.Timeline().Tail(ctx, pageEvents)
		if err != nil {
			return err
		}
		first := top.Page{Session: id, Live: true, First: len(page.Events) < pageEvents}
		for _, bad := range page.Bad {
			first.Events = append(first.Events, f.unreadable(id, bad))
		}
		for _, e := range page.Events {
			first.Events = append(first.Events, f.event(e))
		}
		send(first)
		for u, err := range s.Timeline().Follow(ctx, timeline.FollowOptions{Mode: timeline.After, After: page.Next}) {
			var bad *timeline.LineError
			switch {
			case errors.As(err, &bad):
				send(top.Page{Session: id, Live: true, Events: []top.Event{f.unreadable(id, bad)}})
			case err != nil:
				return err
			case !u.CaughtUp:
				send(top.Page{Session: id, Live: true, Events: []top.Event{f.event(u.Event)}})
			}
		}
		return nil
	})
	return f.told(ctx, id, err)
}

// Before returns the events before the one with that sequence.
func (f *Feed) Before(ctx context.Context, id string, seq uint64) (top.Page, error) {
	begin := seq - min(seq, pageEvents)
	p := top.Page{Session: id, First: begin == 0}
	err := f.with(id, func(s *session.Session) error {
		c, err := s.Timeline().CursorAt(ctx, begin)
		if err != nil {
			return err
		}
		for e, err := range s.Timeline().From(ctx, c) {
			var bad *timeline.LineError
			switch {
			case errors.As(err, &bad):
				p.Events = append(p.Events, f.unreadable(id, bad))
			case err != nil:
				return err
			case e.Seq >= seq:
				return nil
			default:
				p.Events = append(p.Events, f.event(e))
			}
		}
		return nil
	})
	return p, f.told(ctx, id, err)
}

// told is an error in the words of people; that of a ctx that ended is none.
func (f *Feed) told(ctx context.Context, id string, err error) error {
	if err == nil || ctx.Err() != nil {
		return nil
	}
	return errors.New(f.explain(id, err))
}

func (f *Feed) with(id string, do func(s *session.Session) error) error {
	s, err := f.options.Store.Open(id)
	if err != nil {
		return err
	}
	return errors.Join(do(s), s.Release())
}

func (f *Feed) event(e timeline.Event) top.Event {
	shown := top.Event{Seq: e.Seq, Time: e.Time}
	if e.Kind == timeline.KindSent {
		shown.MID, shown.Who, shown.Note = e.MID, "human", e.Via() == timeline.Note
		if e.From != "" {
			shown.Who = f.line(e.From)
		}
		shown.Text = f.lines(e.Text, textBytes)
		return shown
	}
	shown.Word, shown.Text = f.line(e.Display()), f.lines(e.Note, textBytes)
	return shown
}

func (f *Feed) unreadable(id string, bad *timeline.LineError) top.Event {
	return top.Event{Word: "a line that cannot be read", Text: f.explain(id, bad)}
}
