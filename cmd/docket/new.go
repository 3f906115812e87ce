package main

import (
	"context"

	"github.com/docket-go/docket/timeline/session"
)

func newVerb() verb {
	return verb{
		name: "new", args: "ID", min: 1, max: 1, run: runNew,
		changes: true,
		short:   "make a session",
		example: "docket new worker-1 --adapter exec --set cmd='my-agent --stdin' --title 'the parser'",
		flags: []verbFlag{
			{name: "adapter", initial: "none", usage: "the `NAME` of the adapter that hands messages over (see docket adapters)"},
			{name: "set", takes: several, usage: "a setting of the adapter, `NAME=VALUE`; may be repeated"},
			{name: "title", usage: "what it is about, for people"},
			{name: "parent", usage: "the session `ID` that it belongs to"},
		},
	}
}

func runNew(ctx context.Context, c *call) error {
	id := c.about(c.args[0])
	settings, err := c.pairs("set")
	if err != nil {
		return err
	}
	name := c.flags.String("adapter")
	if settings, err = kinds().Settle(name, settings); err != nil {
		return err
	}
	s, err := c.store.Create(ctx, session.New{
		ID: id, Title: c.flags.String("title"), Parent: c.flags.String("parent"),
		Adapter: name, Settings: settings,
	})
	if err != nil {
		return err
	}
	defer s.Release()
	if !c.out.json {
		c.out.people("%s\n", id)
		return nil
	}
	r, err := s.Record()
	if err != nil {
		return err
	}
	return c.printRecord(snapshotOf(ctx, s, r))
}
