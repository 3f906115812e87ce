package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

func lsVerb() verb {
	return verb{
		name: "ls", run: runLs,
		brief:   true,
		short:   "list the sessions, with what they are owed and their last event",
		example: "docket ls\ndocket ls --json | jq 'select(.owed > 0)'",
	}
}

// A listed is one session as ls shows it.
type listed struct {
	snapshot
	owed int
	last *timeline.Update // nil if nothing happened yet
}

func runLs(ctx context.Context, c *call) error {
	ids, err := c.all(ctx)
	if err != nil {
		return err
	}
	width := idWidth(ids)
	for _, id := range ids {
		err := c.with(id, func(s *session.Session) error { return c.list(ctx, s, width) })
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && !errors.Is(err, session.ErrNotFound): // closed since
			c.report.complain(id, err)
			if err := c.listFault(id, width, err); err != nil {
				return err
			}
		}
	}
	return nil
}

// idWidth is how wide the column of the ids is.
func idWidth(ids []string) int {
	const least, most = 20, 40
	width := least
	for _, id := range ids {
		width = max(width, len(id))
	}
	return min(width, most)
}

// A faulty is, in JSON, a session that cannot be looked at.
type faulty struct {
	ID      string `json:"session_id"` // as a record has it
	Session string `json:"session"`
	Fault   string `json:"fault"`
}

// listFault lists a session of which err says why it cannot be looked at.
func (c *call) listFault(id string, width int, err error) error {
	if c.out.json {
		return c.out.object(faulty{id, id, oneLine(words(id, err))})
	}
	what := "cannot be read: "
	if statusOf(err) == statusCorrupt {
		what = "damaged: "
	}
	c.out.people("%-*s %s\n", width, id, oneLine(what+words(id, err)))
	return nil
}

func (c *call) list(ctx context.Context, s *session.Session, width int) error {
	l, err := c.look(ctx, s)
	if err != nil {
		return err
	}
	if !c.out.json {
		c.out.people("%s\n", oneLine(l.line(width)))
		return nil
	}
	line, err := l.json()
	if err == nil {
		c.out.line(line)
	}
	return err
}

func (c *call) look(ctx context.Context, s *session.Session) (l listed, err error) {
	r, err := s.Record()
	if err != nil {
		return l, err
	}
	l.snapshot = snapshotOf(ctx, s, r)
	if l.owed, err = c.dispatch.Owed(ctx, s.ID()); err != nil {
		return l, err
	}
	page, err := s.Timeline().Tail(ctx, 1)
	if err != nil || len(page.Events) == 0 {
		return l, err
	}
	l.last = &timeline.Update{Event: page.Events[0], Next: page.Next}
	return l, nil
}

// json is that of the record, with what ls adds.
func (l listed) json() ([]byte, error) {
	record, err := l.snapshot.json()
	if err != nil {
		return nil, err
	}
	last := []byte("null")
	if l.last != nil {
		if last, err = appendEventLine(nil, "", l.last.Event, l.last.Next); err != nil {
			return nil, err
		}
	}
	added := fmt.Appendf(nil, `,"owed":%d,"last":%s}`, l.owed, last)
	return slices.Concat(record[:len(record)-1], added), nil
}

func (l listed) line(width int) string {
	parts := []string{fmt.Sprintf("%-*s %-13s %d owed", width, l.id, l.word(), l.owed)}
	if l.last != nil {
		parts = append(parts, "last "+when(l.last.Event.Time))
	}
	for _, more := range []string{conditions(l.record), titled(l.record.Title)} {
		if more != "" {
			parts = append(parts, more)
		}
	}
	return strings.Join(parts, "  ")
}

// conditions are the lasting marks of a session.
func conditions(r session.Record) string {
	var is []string
	for _, mark := range []struct {
		set  bool
		word string
	}{{r.Archived, "archived"}, {r.Retired, "retired"}, {r.Launching, "launching"}} {
		if mark.set {
			is = append(is, mark.word)
		}
	}
	return strings.Join(is, ", ")
}

// titled is a title that leaves a line readable.
func titled(title string) string {
	const most = 60
	letters := []rune(title)
	if len(letters) <= most {
		return title
	}
	return string(letters[:most]) + "..."
}
