package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

func logVerb() verb {
	return verb{
		name: "log", args: "[ID]", max: 1, run: runLog,
		brief:   true,
		short:   "print what was declared and said, oldest first",
		example: "docket log worker-1 --limit 20\ndocket log worker-1 --json --all",
		flags: []verbFlag{
			{name: "limit", takes: aNumber, initial: "500", usage: "at most `N` events: the last ones, or with --after the first ones behind it"},
			{name: "all", takes: nothing, usage: "every event"},
			{name: "after", usage: "only events behind the `CURSOR`, which an earlier answer gave"},
		},
	}
}

func runLog(ctx context.Context, c *call) error {
	id, err := c.own()
	if err != nil {
		return err
	}
	limit := c.flags.Int("limit")
	switch {
	case limit < 1:
		return &usageError{c.verb, "--limit takes a number from 1 on: use --all for every event"}
	case c.flags.Bool("all") && c.flags.IsSet("limit"):
		return &usageError{c.verb, "--limit and --all: give one of the two"}
	case c.flags.Bool("all"):
		limit = -1
	}
	after, given, err := c.cursor("after")
	if err != nil {
		return err
	}
	return c.with(id, func(s *session.Session) error {
		switch {
		case given:
			return c.printLog(ctx, s, timeline.FollowOptions{Mode: timeline.After, After: after}, limit)
		case limit < 0:
			return c.printLog(ctx, s, timeline.FollowOptions{Mode: timeline.FromStart}, limit)
		}
		return c.printTail(ctx, s, limit)
	})
}

// printTail prints the last n events, and reports what cannot be read among them.
func (c *call) printTail(ctx context.Context, s *session.Session, n int) error {
	page, err := s.Timeline().Tail(ctx, n)
	if err != nil {
		return err
	}
	for _, bad := range page.Bad {
		c.report.complain(s.ID(), bad)
	}
	for _, e := range page.Events {
		if err := c.event("", timeline.Update{Event: e, Next: page.After(e)}); err != nil {
			return err
		}
	}
	return nil
}

// printLog prints at most limit events. What cannot be read is reported, and what
// stands behind it is printed.
func (c *call) printLog(ctx context.Context, s *session.Session, from timeline.FollowOptions, limit int) error {
	from.Poll = -time.Second // it ends at the mark: to be told of news costs more than all the rest
	for u, err := range s.Timeline().Follow(ctx, from) {
		var bad *timeline.LineError
		switch {
		case errors.As(err, &bad):
			c.report.complain(s.ID(), err)
			continue
		case err != nil:
			return err
		case u.CaughtUp:
			return nil
		}
		if err := c.event("", u); err != nil {
			return err
		}
		if limit--; limit == 0 {
			return nil
		}
	}
	return nil
}

// event prints one event, with its session where that is not empty.
func (c *call) event(session string, u timeline.Update) error {
	if !c.out.json {
		c.out.append(func(dst []byte) []byte { return append(appendBlock(dst, session, u.Event), '\n') })
		return nil
	}
	var err error
	c.out.append(func(dst []byte) (line []byte) {
		if line, err = appendEventLine(dst, session, u.Event, u.Next); err != nil {
			return dst
		}
		return append(escape(line), '\n')
	})
	if err != nil {
		return fmt.Errorf("event %d: %w", u.Event.Seq, err)
	}
	return nil
}
