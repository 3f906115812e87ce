package httpread

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

// startWord stands for the cursor before the first event. No cursor is spelled so.
const startWord = "start"

// history is one page of a timeline.
type history struct {
	Session    string            `json:"session"`
	Events     []json.RawMessage `json:"events"` // oldest first
	First      timeline.Cursor   `json:"first"`  // before the first of them
	Next       timeline.Cursor   `json:"next"`   // after the last of them
	More       bool              `json:"more"`   // there are events behind next
	Earlier    bool              `json:"earlier"`
	Unreadable int               `json:"unreadable"` // lines among them that cannot be read
}

func (h *Handler) timeline(w http.ResponseWriter, r *http.Request) error {
	q, err := query(r, "limit", "after", "before")
	if err != nil {
		return err
	}
	n, err := limit(q)
	if err != nil {
		return err
	}
	return h.opened(r, func(s *session.Session) error {
		span, err := chosen(r.Context(), s.Timeline(), q, n)
		if err != nil {
			return err
		}
		if known(w, r, span.tag(s.ID(), n)) {
			return nil
		}
		page, err := span.read(r.Context(), s.Timeline(), n)
		if err != nil {
			return err
		}
		page.Session = s.ID()
		return writeJSON(w, http.StatusOK, page)
	})
}

// A span is a part of a log, from one cursor to another. Behind the latter nothing
// is read, also when more was appended meanwhile, so that span and limit stand for
// one answer.
type span struct {
	from, to timeline.Cursor
	end      timeline.Cursor // of the log
}

func (s span) tag(id string, n int) string {
	return tag([]byte(id + " " + s.from.String() + " " + s.to.String() + " " + s.end.String() + " " + strconv.Itoa(n)))
}

// chosen returns the span that the parameters ask for: what is after a cursor, what
// is just before one, or the newest events.
func chosen(ctx context.Context, l *timeline.Log, q url.Values, n int) (s span, err error) {
	if q.Has("after") && q.Has("before") {
		return span{}, refuse(http.StatusBadRequest, "bad-query", "give after or before, not both")
	}
	var named timeline.Cursor
	for _, name := range []string{"after", "before"} {
		if q.Has(name) {
			if named, err = cursor(ctx, l, q.Get(name)); err != nil {
				return span{}, err
			}
		}
	}
	if s.end, err = l.End(ctx); err != nil {
		return span{}, err
	}
	s.to = s.end
	if q.Has("after") {
		s.from = named
		return s, nil
	}
	if q.Has("before") {
		s.to = named
	}
	s.from, err = l.CursorAt(ctx, s.to.Seq()-min(s.to.Seq(), uint64(n)))
	return s, err
}

func cursor(ctx context.Context, l *timeline.Log, text string) (timeline.Cursor, error) {
	if text == startWord {
		return l.Start(ctx)
	}
	c, err := timeline.ParseCursor(text)
	if err == nil {
		err = fits(ctx, l, c)
	}
	return c, err
}

// read returns at most n events of the span, and fewer where their texts are large:
// the rest is behind Next.
func (s span) read(ctx context.Context, l *timeline.Log, n int) (history, error) {
	h := history{Events: []json.RawMessage{}, First: s.from, Next: s.to, Earlier: s.from.Seq() > 0}
	size := 0
	for e, err := range l.From(ctx, s.from) {
		var bad *timeline.LineError
		if errors.As(err, &bad) {
			h.Unreadable++
			continue
		}
		if err != nil {
			return history{}, err
		}
		if e.Seq >= s.to.Seq() {
			break
		}
		b, err := public("", e)
		if err != nil {
			return history{}, err
		}
		if size += len(b); len(h.Events) == n || size > maxAnswerBytes && len(h.Events) > 0 {
			if h.Next, err = l.CursorAt(ctx, e.Seq); err != nil {
				return history{}, err
			}
			break
		}
		h.Events = append(h.Events, b)
	}
	h.More = h.Next.Seq() < s.end.Seq()
	return h, nil
}

// fits returns nil if something can be read from c on.
func fits(ctx context.Context, l *timeline.Log, c timeline.Cursor) error {
	for _, err := range l.From(ctx, c) {
		if bad := (*timeline.LineError)(nil); !errors.As(err, &bad) {
			return err
		}
		break
	}
	return nil
}
