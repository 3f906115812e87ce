package httpread

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"path"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/fleet"
)

// maxIDBytes bounds the id of an event, which grows with the sessions that are
// followed: a request has no room for more.
const maxIDBytes = 32 << 10

func (h *Handler) fleet(w http.ResponseWriter, r *http.Request) error {
	after, q, err := lastID(r, "match")
	if err != nil {
		return err
	}
	o := fleet.Options{Poll: h.o.Poll, Match: q["match"]}
	switch after {
	case "", startWord:
	case endWord:
		o.Mode = fleet.TailOnly
	default:
		o.Mode = fleet.After
		if o.After, err = fleet.ParseCursor(after); err != nil {
			return err
		}
	}
	return h.stream(w, r, func(ctx context.Context) iter.Seq2[frame, error] {
		return fleetFrames(fleet.Follow(ctx, h.o.Store, o))
	})
}

// fleetFrames spells the updates of all sessions. Once their cursors are too large
// they are left out, and the client is told to forget the one that it has.
func fleetFrames(updates iter.Seq2[fleet.Update, error]) iter.Seq2[frame, error] {
	return func(yield func(frame, error) bool) {
		large := false
		for u, err := range updates {
			f, err := fleetFrame(u, err)
			switch {
			case large || u.Next.IsZero():
			default:
				f.id = u.Next.String()
				if large = len(f.id) > maxIDBytes; large {
					f.id, f.forget = "", true
				}
			}
			if !yield(f, err) {
				return
			}
		}
	}
}

func fleetFrame(u fleet.Update, err error) (frame, error) {
	var one *fleet.SessionError
	switch {
	case errors.As(err, &one):
		return unreadable(one.Session, one.Err)
	case errors.Is(err, path.ErrBadPattern):
		return frame{}, refuse(http.StatusBadRequest, "bad-match", "match must be a pattern such as team-*")
	case errors.Is(err, timeline.ErrForeignCursor):
		return frame{}, refuse(http.StatusConflict, "cursor-foreign", "the cursor belongs to another store: begin again without it")
	case err != nil:
		return frame{}, err
	case u.CaughtUp:
		return frame{event: eventCaughtUp, data: []byte("{}")}, nil
	case u.Joined || u.Left:
		f := frame{event: eventJoined}
		if u.Left {
			f.event = eventLeft
		}
		f.data, err = encode(map[string]string{"session": u.Session})
		return f, err
	}
	data, err := public(u.Session, u.Event)
	return frame{event: eventEvent, data: data}, err
}
