package main

import (
	"context"
	"strings"

	"github.com/docket-go/docket/dispatch/watching"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

func watchVerb() verb {
	return verb{
		name: "watch", args: "[ID|--all]", max: 1, run: runWatch,
		changes: true,
		short:   "let a session be told what another one declares; without --by, print who is told",
		more: "Each declaration becomes a message to the watcher, once, as soon as it is made; if the\n" +
			"process dies before, docket serve or docket drain --all sends it.",
		example: "docket watch worker-1 --by lead\ndocket watch worker-1\ndocket watch --all --json",
		flags: []verbFlag{
			{name: "by", usage: "the session `ID` that is told"},
			{name: "working", takes: nothing, usage: "tell also that it works, which comes with each turn"},
			{name: "from-start", takes: nothing, usage: "begin with the first declaration there is, rather than with the next one"},
			{name: "after", usage: "begin behind the `CURSOR`, which an earlier answer gave"},
			{name: "all", takes: nothing, usage: "print who watches any session of the store"},
		},
	}
}

// watched is one watch in JSON.
type watched struct {
	Session string           `json:"session"`
	By      string           `json:"by"`
	State   string           `json:"state"` // watching; ending: something is still to be told; closed: the watcher is; ended
	Working bool             `json:"working"`
	Since   *string          `json:"since"`
	Cursor  *timeline.Cursor `json:"cursor"` // before the first event that the watcher was not told of
}

func runWatch(ctx context.Context, c *call) error {
	if c.flags.IsSet("by") {
		return c.beginWatch(ctx)
	}
	for _, flag := range []string{"working", "from-start", "after"} {
		if c.flags.IsSet(flag) {
			return &usageError{c.verb, "--" + flag + " without --by: name the session that is to be told"}
		}
	}
	ids, err := c.chosen(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := c.listWatches(id); err != nil {
			if !c.flags.Bool("all") {
				return err
			}
			c.report.complain(id, err)
		}
	}
	return nil
}

func (c *call) listWatches(id string) error {
	all, err := c.watches.List(id)
	if err != nil {
		return err
	}
	for _, x := range all {
		if err := c.printWatch(x, stateOf(x)); err != nil {
			return err
		}
	}
	return nil
}

// beginWatch lets the session of --by watch, and tells it what it asks for.
func (c *call) beginWatch(ctx context.Context) error {
	if c.flags.Bool("all") {
		return &usageError{c.verb, "--all with --by: name each session that is to be watched"}
	}
	id, by, err := c.pair()
	if err != nil {
		return err
	}
	q := watching.Request{By: by, Working: c.flags.Bool("working")}
	if q.From, err = c.watchFrom(ctx, id); err != nil {
		return err
	}
	w := c.watches
	begun, err := w.Add(ctx, id, q)
	if err != nil {
		return err
	}
	if err := c.printWatch(begun, stateOf(begun)); err != nil {
		return err
	}
	return c.thenTell(ctx, id)
}

// pair returns the watched session and its watcher, which must be there.
func (c *call) pair() (id, by string, err error) {
	if id, err = c.own(); err != nil {
		return "", "", err
	}
	by = c.flags.String("by")
	if by != id {
		err = c.with(c.about(by), func(*session.Session) error { return nil })
	}
	if err == nil {
		c.about(id)
	}
	return id, by, err
}

// watchFrom is where the flags let the watch begin; the zero cursor means now.
func (c *call) watchFrom(ctx context.Context, id string) (from timeline.Cursor, err error) {
	if c.flags.IsSet("after") && c.flags.Bool("from-start") {
		return from, &usageError{c.verb, "--after and --from-start exclude each other: give one of them"}
	}
	if !c.flags.Bool("from-start") {
		from, _, err = c.cursor("after")
		return from, err
	}
	err = c.with(id, func(s *session.Session) error {
		from, err = s.Timeline().Start(ctx)
		return err
	})
	return from, err
}

// stateOf is the word for how a watch stands.
func stateOf(x watching.Watch) string {
	switch {
	case x.Closed:
		return "closed"
	case x.Ending:
		return "ending"
	}
	return "watching"
}

func (c *call) printWatch(x watching.Watch, state string) error {
	if c.out.json {
		w := watched{Session: x.Session, By: x.By, State: state, Working: x.Working, Since: stamp(x.Since)}
		if !x.Place.IsZero() {
			w.Cursor = &x.Place
		}
		return c.out.object(w)
	}
	parts := []string{x.By + " watches " + x.Session}
	if x.Working {
		parts[0] += ", also its routine work"
	}
	parts = append(parts, "since "+when(x.Since))
	if state != "watching" {
		parts = append(parts, state)
	}
	c.out.people("%s\n", oneLine(strings.Join(parts, "  ")))
	return nil
}
