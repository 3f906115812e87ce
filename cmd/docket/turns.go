package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
	"github.com/docket-go/docket/timeline/turn"
)

func turnsVerb() verb {
	return verb{
		name: "turns", args: "ID", min: 1, max: 1, run: runTurns,
		short: "print what the agent behind a host did in its turns, one event a line",
		more: "With --wait it prints only how the last turn ended, once the agent has come to rest: the\n" +
			"session is owed nothing, and no turn is open. If that takes longer than --timeout, the status is 6.",
		example: "docket turns worker-1 --follow\ndocket turns worker-1 --wait --timeout 30m\ndocket turns worker-1 --json --after CURSOR",
		flags: []verbFlag{
			{name: "after", usage: "only events behind the `CURSOR`, which an earlier answer gave"},
			{name: "follow", takes: nothing, usage: "and go on with what commits, until interrupted"},
			{name: "wait", takes: nothing, usage: "wait until the agent has done what it is owed, and print how its last turn ended"},
			{name: "timeout", takes: aTime, usage: "with --wait: give up after this time, such as 90s or 30m; 0s looks once", unset: "never"},
			{name: "tail", takes: nothing, usage: "only what commits from now on, until interrupted"},
		},
	}
}

func runTurns(ctx context.Context, c *call) error {
	id := c.about(c.args[0])
	tail, follow := c.flags.Bool("tail"), c.flags.Bool("follow")
	if tail && (follow || c.flags.IsSet("after")) {
		return &usageError{c.verb, "--tail with --follow or --after: leave one of the two out"}
	}
	if err := c.checkRest(); err != nil {
		return err
	}
	if c.flags.Bool("wait") {
		return c.with(id, func(s *session.Session) error { return c.waitForRest(ctx, s) })
	}
	after, given, err := c.cursor("after")
	if err != nil {
		return err
	}
	return c.with(id, func(s *session.Session) error {
		log, err := turn.Read(s.Dir(), turn.ReadOptions{Session: s.ID()})
		if err == nil && !given {
			after, err = log.Start(ctx)
		}
		if err != nil {
			return err
		}
		updates := log.Follow(ctx, after)
		if tail {
			updates = log.Tail(ctx)
		}
		err = c.printTurns(s, updates, tail || follow)
		if errors.Is(err, timeline.ErrForeignCursor) && after.Session() == id {
			return &advised{"it is no place in the turn log as it is now: take a cursor that docket turns printed", err}
		}
		if errors.Is(err, context.Canceled) && (tail || follow) {
			return nil // that is how it ends
		}
		return err
	})
}

// printTurns prints the events, up to the mark if it is not to go on.
func (c *call) printTurns(s *session.Session, updates iter.Seq2[turn.Update, error], goesOn bool) error {
	printed := false
	for u, err := range updates {
		if err == nil && u.CaughtUp && !printed {
			c.turnless(s)
		}
		printed = true
		if err == nil && u.CaughtUp && !goesOn {
			return nil
		}
		if err == nil {
			err = c.turnUpdate(u)
		}
		if err == nil && goesOn {
			err = c.out.flush()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// turnless says of a session whose turns nobody records that there is nothing to wait for.
func (c *call) turnless(s *session.Session) {
	if r, err := s.Record(); err == nil && !hosted(r.Adapter) {
		c.report.line(s.ID(), "only sessions behind docket host have turns, and this one's adapter is "+orNone(r.Adapter)+": see docket log "+s.ID())
	}
}

func (c *call) turnUpdate(u turn.Update) error {
	switch {
	case u.CaughtUp && c.out.json:
		return c.out.object(caughtUp)
	case u.CaughtUp:
		return nil
	case !c.out.json:
		c.out.people("%s\n", oneLine(turnLine(u.Event)))
		return nil
	}
	tail, err := encode(struct {
		Cursor timeline.Cursor `json:"cursor"`
	}{u.Next})
	if err != nil {
		return err
	}
	stored := bytes.TrimSuffix(u.Event.JSON(), []byte("}"))
	c.out.line(slices.Concat(stored, []byte(","), tail[1:]))
	return nil
}

// turnLine is an event for people.
func turnLine(e turn.Event) string {
	of := "session"
	if n := e.TurnNumber(); n > 0 {
		of = fmt.Sprintf("turn %d", n)
	}
	return fmt.Sprintf("%s  %-7s  %s", when(e.Time), of, happened(e.Payload))
}

// happened says what happened, in few words.
func happened(p turn.Payload) string {
	switch p := p.(type) {
	case turn.Started:
		return strings.TrimSpace("started " + p.MID)
	case turn.Text:
		return "says: " + brief(p.Text)
	case turn.Thought:
		return "thinks: " + brief(p.Text)
	case turn.Tool:
		return fmt.Sprintf("tool %s: %s", p.Status, brief(named(p.Title, p.Class)))
	case turn.Permission:
		return permission(p)
	case turn.Usage:
		return fmt.Sprintf("used so far: %s in, %d out", count(int(p.Input), "token"), p.Output)
	case turn.ResultObserved:
		return "result: " + brief(p.Text)
	case turn.Diagnostic:
		return fmt.Sprintf("%s: %s", p.Severity, brief(named(p.Code, p.Text)))
	case turn.State:
		return p.Name + " is " + brief(p.Value)
	case turn.Finished:
		return "finished: " + brief(named(p.String(), p.Diagnostic))
	}
	return string(turn.Event{Payload: p}.Kind())
}

// permission says what is asked, with all that an answer needs, or how it ended.
func permission(p turn.Permission) string {
	if p.State != turn.PermissionAsked {
		return fmt.Sprintf("permission %s: %s", p.ID, p.State)
	}
	return fmt.Sprintf("asks permission %s: %s (%s)", p.ID, brief(p.Title), strings.Join(p.Options, ", "))
}

// named joins a name and what it is, of which each may be empty.
func named(name, what string) string {
	if name == "" || what == "" {
		return name + what
	}
	return name + ": " + what
}

// brief cuts a text to what people read on one line.
func brief(text string) string {
	const most = 200
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most]) + "..."
}
