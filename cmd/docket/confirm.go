package main

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/docket-go/docket/dispatch"
)

func confirmVerb() verb {
	return verb{
		name: "confirm", args: "ID MID", min: 2, max: 2, run: runConfirm,
		short:   "settle an unconfirmed message by what you, or a hook, saw",
		example: "docket confirm worker-1 $DOCKET_MID\ndocket confirm worker-1 MID --absent",
		flags:   []cli.Flag{&cli.BoolFlag{Name: "absent", DisableDefaultText: true, Usage: "it did not arrive: it is owed again"}},
	}
}

// confirmed is the answer of confirm in JSON.
type confirmed struct {
	Session string             `json:"session"`
	MID     string             `json:"mid"`
	State   dispatch.Condition `json:"state"`
}

func runConfirm(ctx context.Context, c *call) error {
	id, mid := c.about(c.args[0]), c.args[1]
	s, err := c.dispatch.Confirm(ctx, id, mid, c.flags.Bool("absent"))
	if err != nil {
		return err
	}
	if c.out.json {
		return c.out.object(confirmed{id, mid, s.Condition})
	}
	c.out.people("%s\n", s.Condition)
	return nil
}
