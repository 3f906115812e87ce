package httpread

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

// excerptRunes is how much of a note or text a list of sessions shows.
const excerptRunes = 280

// summary is one session in a list.
type summary struct {
	ID        string  `json:"id"`
	Title     *string `json:"title"`
	Parent    *string `json:"parent"`
	Adapter   *string `json:"adapter"`
	CreatedAt *string `json:"createdAt"`
	Archived  bool    `json:"archived"`
	Retired   bool    `json:"retired"`
	Launching bool    `json:"launching"`
	Status    *string `json:"status"`
	Proposal  *string `json:"proposal"`
	Note      *string `json:"note"`
	Display   *string `json:"display"`
	Owed      *int    `json:"owed"`

	Unconfirmed *int       `json:"unconfirmed"` // of those owed
	Last        *lastEvent `json:"last"`
	Fault       *problem   `json:"fault"` // what of it cannot be read
}

// lastEvent is the newest event of a session, in short.
type lastEvent struct {
	Time     *string `json:"ts"`
	Kind     string  `json:"kind"`
	Display  *string `json:"display"`
	From     *string `json:"from"`
	Excerpt  string  `json:"excerpt"`
	ReplyVia *string `json:"replyVia"`
}

func (h *Handler) sessions(w http.ResponseWriter, r *http.Request) error {
	q, err := query(r, "limit", "after")
	if err != nil {
		return err
	}
	n, err := limit(q)
	if err != nil {
		return err
	}
	after := q.Get("after")
	if after != "" && session.ValidID(after) != nil {
		return refuse(http.StatusBadRequest, "bad-after", "after must be the id of a session")
	}
	ids, err := h.ids(r.Context(), after)
	if err != nil {
		return err
	}
	list := struct {
		Sessions []summary `json:"sessions"`
		Next     *string   `json:"next"`
		Offers   []string  `json:"offers"`
	}{Sessions: []summary{}, Offers: h.offers()}
	for i, id := range ids {
		if len(list.Sessions) == n {
			list.Next = &ids[i-1]
			break
		}
		if s, ok := h.summary(r.Context(), id); ok {
			list.Sessions = append(list.Sessions, s)
		}
	}
	if err := r.Context().Err(); err != nil {
		return err
	}
	return answer(w, r, list)
}

// offers names what the embedder has given functions for.
func (h *Handler) offers() []string {
	offers := []string{}
	for _, o := range []struct {
		name  string
		given bool
	}{{"input", h.o.Send != nil}, {"pending", h.o.Debts != nil}, {"states", h.o.States != nil}} {
		if o.given {
			offers = append(offers, o.name)
		}
	}
	return offers
}

// ids returns the ids behind after, sorted.
func (h *Handler) ids(ctx context.Context, after string) (ids []string, err error) {
	for id, err := range h.o.Store.IDs(ctx) {
		if err != nil {
			return nil, err
		}
		if id > after {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, strings.Compare)
	return ids, nil
}

func (h *Handler) session(w http.ResponseWriter, r *http.Request) error {
	if _, err := query(r); err != nil {
		return err
	}
	id := r.PathValue("id")
	if err := session.ValidID(id); err != nil {
		return err
	}
	s, ok := h.summary(r.Context(), id)
	if !ok {
		return session.ErrNotFound
	}
	if err := r.Context().Err(); err != nil {
		return err
	}
	return answer(w, r, s)
}

// summary returns what is to be shown of a session, and false if it is gone. What
// cannot be read is named, and the rest is shown: one damaged session hides no
// other, and no part of itself.
func (h *Handler) summary(ctx context.Context, id string) (s summary, ok bool) {
	s.ID = id
	opened, err := h.o.Store.Open(id)
	if err != nil {
		s.failed(err)
		return s, !gone(err)
	}
	defer opened.Release()
	record, err := opened.Record()
	if gone(err) {
		return s, false
	}
	if s.failed(err); err == nil {
		s.describe(record)
	}
	page, err := opened.Timeline().Tail(ctx, 1)
	if s.failed(err); len(page.Events) == 1 {
		s.Last = lastOf(page.Events[0])
	}
	s.Owed, s.Unconfirmed, err = h.owes(ctx, id)
	s.failed(err)
	return s, !gone(err)
}

func gone(err error) bool {
	return errors.Is(err, session.ErrNotFound) || errors.Is(err, lock.ErrClosed) || errors.Is(err, timeline.ErrClosed)
}

// failed notes the first thing that could not be read.
func (s *summary) failed(err error) {
	if err != nil && s.Fault == nil {
		f := refusal(err)
		s.Fault = &problem{f.Say, f.Code}
	}
}

func (s *summary) describe(r session.Record) {
	declared := r.Authored()
	s.Title, s.Parent, s.Adapter = orNull(r.Title), orNull(r.Parent), orNull(r.Adapter)
	s.CreatedAt = stamp(r.CreatedAt)
	s.Archived, s.Retired, s.Launching = r.Archived, r.Retired, r.Launching
	s.Status, s.Proposal = orNull(declared.Status), orNull(declared.Proposal)
	s.Note = orNull(shorten(declared.Note, excerptRunes))
	s.Display = orNull(timeline.DisplayWord(declared.Status, declared.Proposal))
}

func lastOf(e timeline.Event) *lastEvent {
	l := &lastEvent{Time: stamp(e.Time), Kind: string(e.Kind), Display: orNull(e.Display())}
	l.Excerpt = shorten(e.Note, excerptRunes)
	if e.Kind == timeline.KindSent {
		via := string(e.Via())
		l.From, l.ReplyVia = orNull(e.From), &via
		l.Excerpt = shorten(e.Text, excerptRunes)
	}
	return l
}
