package main

import (
	"context"

	"github.com/docket-go/docket/dispatch/watching"
)

func unwatchVerb() verb {
	return verb{
		name: "unwatch", args: "[ID]", max: 1, run: runUnwatch,
		changes: true,
		short:   "let a session be told no more what another one declares",
		more:    "What was declared before is still told. Who watches is printed by docket watch.",
		example: "docket unwatch worker-1 --by lead",
		flags: []verbFlag{
			{name: "by", usage: "the session `ID` that is told"},
		},
	}
}

func runUnwatch(ctx context.Context, c *call) error {
	if !c.flags.IsSet("by") {
		return &usageError{c.verb, "--by is missing: name the session that watches, as docket watch prints it"}
	}
	id, err := c.own()
	if err != nil {
		return err
	}
	by := c.flags.String("by")
	if err := c.watches.Remove(ctx, id, by); err != nil {
		return err
	}
	if c.out.json {
		err = c.printWatch(watching.Watch{Session: id, By: by}, "ended")
	} else {
		c.out.people("%s watches %s no more\n", by, id)
	}
	if err != nil {
		return err
	}
	return c.thenTell(ctx, id)
}
