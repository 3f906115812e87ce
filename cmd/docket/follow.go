package main

import (
	"context"
	"errors"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/fleet"
)

func followVerb() verb {
	return verb{
		name: "follow", args: "ID|PATTERN...", min: 1, max: -1, run: runFollow,
		short: "print events as they commit, until interrupted",
		more: "A pattern, such as 'team-*' or '*', stands for the sessions that fit it, also those\n" +
			"that come later. Each joins and leaves with a line of its own; with --json that is\n" +
			`{"kind":"joined","session":ID} or {"kind":"left","session":ID}, and a place for --after` + "\n" +
			`comes behind the mark and at the end, as {"kind":"position","fleet":CURSOR}.` + "\n\n" +
			"With --as, what was printed is not printed again: the place moves on behind it, and\n" +
			"never back. A follower that is killed may repeat its last second.",
		example: "docket follow worker-1 worker-2 --tail\ndocket follow 'team-*' --as lead\ndocket follow worker-1 --json --after CURSOR",
		flags: []verbFlag{
			afterFlag(),
			asFlag("with --tail, skip what is there"),
			{name: "from-start", takes: nothing, usage: "begin with the first event; the default"},
			{name: "tail", takes: nothing, usage: "only what commits from now on"},
		},
	}
}

func afterFlag() verbFlag {
	return verbFlag{name: "after", takes: several, usage: "begin behind the `CURSOR`, which an earlier answer gave; may be repeated, one for a session"}
}

// A mark is a line that is no event.
type mark struct {
	Kind    string        `json:"kind"`
	Session string        `json:"session,omitempty"`
	Fleet   *fleet.Cursor `json:"fleet,omitempty"`
}

// caughtUp is the mark that everything before it was history.
var caughtUp = mark{Kind: "caught-up"}

func runFollow(ctx context.Context, c *call) error {
	if err := c.exclude("after", "from-start", "tail"); err != nil {
		return err
	}
	if err := c.exclude("after", "from-start", "as"); err != nil {
		return err
	}
	mode := fleet.FromStart
	if c.flags.Bool("tail") {
		mode = fleet.TailOnly
	}
	f, err := c.followers()
	if err != nil {
		return err
	}
	defer f.close()
	if err := f.begin(ctx, mode); err != nil {
		return err
	}
	err = f.run(ctx, listener{
		each: true,
		event: func(u fleet.Update) (bool, error) {
			return false, errors.Join(c.fleetEvent(u), c.out.flush())
		},
		changed: c.changed,
		caughtUp: func() error {
			if !c.out.json {
				return nil
			}
			return errors.Join(c.out.object(caughtUp), f.printPosition(), c.out.flush())
		},
	})
	if errors.Is(err, context.Canceled) {
		return errors.Join(f.printPosition(), c.out.flush()) // that is how it ends
	}
	return err
}

// exclude refuses more than one of some flags.
func (c *call) exclude(names ...string) error {
	given := 0
	for _, name := range names {
		if c.flags.IsSet(name) {
			given++
		}
	}
	if given < 2 {
		return nil
	}
	flags := make([]string, len(names))
	for i, name := range names {
		flags[i] = "--" + name
	}
	return &usageError{c.verb, conjunction(flags) + " exclude each other: give one of them"}
}

// fleetEvent prints an event with its session.
func (c *call) fleetEvent(u fleet.Update) error {
	return c.event(u.Session, timeline.Update{Event: u.Event, Next: u.At})
}

// changed prints that a session joined or left.
func (c *call) changed(u fleet.Update) error {
	kind := "joined"
	if u.Left {
		kind = "left"
	}
	if c.out.json {
		return errors.Join(c.out.object(mark{Kind: kind, Session: u.Session}), c.out.flush())
	}
	c.out.people("%s  %s\n\n", u.Session, kind)
	return c.out.flush()
}

// printPosition prints where to go on with the sessions that fit a pattern.
func (f *followers) printPosition() error {
	if !f.call.out.json || !f.patterns || f.next.IsZero() {
		return nil
	}
	return f.call.out.object(mark{Kind: "position", Fleet: &f.next})
}
