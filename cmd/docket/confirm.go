package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/queue"
)

func confirmVerb() verb {
	return verb{
		name: "confirm", args: "ID MID", min: 2, max: 2, run: runConfirm,
		changes: true,
		short:   "settle an unconfirmed message by what you, or a hook, saw",
		more: "docket pending ID names the message; in a command that the adapter exec runs\n" +
			"$DOCKET_MID does.",
		example: "docket confirm worker-1 $DOCKET_MID\ndocket confirm worker-1 MID --absent",
		flags:   []verbFlag{{name: "absent", takes: nothing, usage: "it did not arrive: it is owed again"}},
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
		return c.settled(ctx, id, mid, err)
	}
	if c.out.json {
		return c.out.object(confirmed{id, mid, s.Condition})
	}
	c.out.people("%s\n", s.Condition)
	return nil
}

// settled gives the refusal of a decision about the message its words: what to do
// depends on how the message stands.
func (c *call) settled(ctx context.Context, id, mid string, err error) error {
	if !errors.Is(err, dispatch.ErrNotUnconfirmed) && !errors.Is(err, queue.ErrNotPending) {
		return err
	}
	s, unknown := c.dispatch.State(ctx, id, mid)
	if unknown != nil {
		return err
	}
	text := fmt.Sprintf("message %s is %s: nothing is left to take back", mid, s.Condition)
	switch {
	case c.verb == "revoke":
	case s.Condition == dispatch.Owed:
		text = fmt.Sprintf("message %s is owed and was not handed over: docket drain %s hands it over, docket revoke %s %s takes it back", mid, id, id, mid)
	case s.Condition == dispatch.Delivered:
		text = fmt.Sprintf("message %s is delivered: say it again with docket send %s if the agent has lost it", mid, id)
	default:
		text = fmt.Sprintf("message %s is %s: nothing is left to decide", mid, s.Condition)
	}
	return &advised{text, err}
}
