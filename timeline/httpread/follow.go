package httpread

import (
	"context"
	"errors"
	"iter"
	"net/http"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

// endWord stands for the end that the timeline has now. No cursor is spelled so.
const endWord = "end"

// lastID returns where a client goes on: behind the last id that it got, else where
// it asks to begin.
func lastID(r *http.Request) (string, error) {
	q, err := query(r, "after")
	if err != nil {
		return "", err
	}
	if id := r.Header.Get("Last-Event-ID"); id != "" {
		return id, nil
	}
	return q.Get("after"), nil
}

func (h *Handler) events(w http.ResponseWriter, r *http.Request) error {
	after, err := lastID(r)
	if err != nil {
		return err
	}
	o := timeline.FollowOptions{Poll: h.o.Poll}
	switch after {
	case "", startWord:
	case endWord:
		o.Mode = timeline.TailOnly
	default:
		o.Mode = timeline.After
		if o.After, err = timeline.ParseCursor(after); err != nil {
			return err
		}
	}
	return h.opened(r, func(s *session.Session) error {
		return h.stream(w, r, func(ctx context.Context) iter.Seq2[frame, error] {
			return frames(s.Timeline().Follow(ctx, o))
		})
	})
}

// frames spells the updates of one session.
func frames(updates iter.Seq2[timeline.Update, error]) iter.Seq2[frame, error] {
	return func(yield func(frame, error) bool) {
		for u, err := range updates {
			if !yield(frameOf(u, err)) {
				return
			}
		}
	}
}

func frameOf(u timeline.Update, err error) (frame, error) {
	f := frame{id: u.Next.String(), event: eventEvent}
	var bad *timeline.LineError
	switch {
	case errors.As(err, &bad):
		// Where the line is in which file is for who can read the files.
		return unreadable("", f.id, err)
	case err != nil:
		return frame{}, err
	case u.CaughtUp:
		f.event, f.data = eventCaughtUp, []byte("{}")
		return f, nil
	}
	f.data, err = public("", u.Event)
	return f, err
}

func unreadable(session, id string, err error) (frame, error) {
	p := refusal(err)
	data, err := encode(struct {
		Session string `json:"session,omitempty"`
		problem
	}{session, problem{p.Say, p.Code}})
	return frame{id: id, event: eventUnreadable, data: data}, err
}

func (h *Handler) fleet(w http.ResponseWriter, r *http.Request) error {
	after, err := lastID(r)
	if err != nil {
		return err
	}
	if after == startWord {
		after = ""
	}
	if h.o.Fleet == nil {
		return notOffered("events of all sessions")
	}
	return h.stream(w, r, func(ctx context.Context) iter.Seq2[frame, error] {
		return fleetFrames(h.o.Fleet(ctx, after))
	})
}

// fleetFrames spells the updates of all sessions.
func fleetFrames(updates iter.Seq2[FleetUpdate, error]) iter.Seq2[frame, error] {
	return func(yield func(frame, error) bool) {
		for u, err := range updates {
			if !yield(fleetFrame(u, err)) {
				return
			}
		}
	}
}

func fleetFrame(u FleetUpdate, err error) (frame, error) {
	switch {
	case err != nil:
		return frame{}, err
	case u.Fault != nil:
		return unreadable(u.Session, u.Next, u.Fault)
	case u.CaughtUp:
		return frame{id: u.Next, event: eventCaughtUp, data: []byte("{}")}, nil
	case u.Closed:
		data, err := encode(map[string]string{"session": u.Session})
		return frame{id: u.Next, event: eventClosed, data: data}, err
	}
	data, err := public(u.Session, u.Event)
	return frame{id: u.Next, event: eventEvent, data: data}, err
}
