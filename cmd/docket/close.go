package main

import (
	"context"
	"errors"

	"github.com/docket-go/docket/dispatch/watching"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

func closeVerb() verb {
	return verb{
		name: "close", args: "ID", min: 1, max: 1, short: "remove a session for good, with its record, its timeline and what it is owed",
		more: "A host of it ends its agent and itself within seconds. What it declared is told to who\nwatches it first.",
		flags: []verbFlag{
			{name: "untold", takes: nothing, usage: "close although a watcher cannot be told what the session declared, and never will be"},
		},
		changes: true,
		example: "docket close worker-1",
		run: func(ctx context.Context, c *call) error {
			return c.with(c.about(c.args[0]), func(s *session.Session) error { return c.close(ctx, s) })
		},
	}
}

// close tells, as nobody can afterwards, and then removes the session.
func (c *call) close(ctx context.Context, s *session.Session) error {
	lost, err := c.tellLast(ctx, s.ID())
	if err != nil {
		return err
	}
	r, unreadable := s.Record()
	if err := s.Close(ctx); err != nil {
		return err
	}
	if lost != "" {
		c.report.line(s.ID(), lost+": what that misses is lost")
	}
	if !c.out.json {
		c.out.people("%s closed\n", s.ID())
		return nil
	}
	if unreadable != nil {
		r = session.Record{ID: s.ID()}
	}
	return c.printRecord(snapshot{id: s.ID(), record: r})
}

// tellLast tells who watches the session what it declared. Who cannot be told keeps it
// from being closed, unless the caller wants that: then lost says who it is, and why.
func (c *call) tellLast(ctx context.Context, id string) (lost string, err error) {
	told, err := c.watches.Tell(ctx, id, watching.TellOptions{})
	c.reportEnded(told)
	var untold *watching.UntoldError
	switch known := errors.As(err, &untold); {
	case err == nil:
		return "", nil
	case calledOff(err):
		return "", err
	case known:
		lost = untoldWords(untold)
	case errors.Is(err, timeline.ErrCorrupt):
		c.report.line(id, "who watches it was not told: "+words(id, err)) // nor can be later
		return "", nil
	default:
		lost = "who watches it was not told: " + words(id, err)
	}
	if c.flags.Bool("untold") {
		return lost, nil
	}
	return "", &advised{lost + ": nothing was closed; mend that first, or docket close --untold " + id + " loses what was not told", errUntold}
}
