package httpread

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"net/url"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

// endWord stands for the end that the timeline has now. No cursor is spelled so.
const endWord = "end"

// lastID returns where a client goes on: behind the last id that it got, else where
// it asks to begin.
func lastID(r *http.Request, more ...string) (after string, q url.Values, err error) {
	if q, err = query(r, append(more, "after")...); err != nil {
		return "", nil, err
	}
	if id := r.Header.Get("Last-Event-ID"); id != "" {
		return id, q, nil
	}
	return q.Get("after"), q, nil
}

func (h *Handler) events(w http.ResponseWriter, r *http.Request) error {
	after, _, err := lastID(r)
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
		f, err = unreadable("", err)
		f.id = u.Next.String()
		return f, err
	case err != nil:
		return frame{}, err
	case u.CaughtUp:
		f.event, f.data = eventCaughtUp, []byte("{}")
		return f, nil
	}
	f.data, err = public("", u.Event)
	return f, err
}

// unreadable tells of what cannot be read, without saying where it lies.
func unreadable(session string, err error) (frame, error) {
	p := refusal(err)
	data, err := encode(struct {
		Session string `json:"session,omitempty"`
		problem
	}{session, problem{p.Say, p.Code}})
	return frame{event: eventUnreadable, data: data}, err
}
