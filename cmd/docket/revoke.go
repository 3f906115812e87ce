package main

import (
	"context"
	"errors"
)

func revokeVerb() verb {
	return verb{
		name: "revoke", args: "ID [MID]", min: 1, max: 2, run: runRevoke,
		changes: true,
		short:   "take back what was not delivered; the record of it stays",
		example: "docket revoke worker-1 MID\ndocket revoke worker-1 --sender lead",
		flags: []verbFlag{
			{name: "sender", usage: "everything that the session `ID` said and that is still owed; - means what humans said"},
		},
	}
}

// revoked is the answer of revoke in JSON.
type revoked struct {
	Session string   `json:"session"`
	Revoked []string `json:"revoked"`
}

func runRevoke(ctx context.Context, c *call) error {
	id := c.about(c.args[0])
	if (len(c.args) == 2) == c.flags.IsSet("sender") {
		return &usageError{c.verb, "give a message or --sender: one of the two"}
	}
	if len(c.args) == 2 {
		mid := c.args[1]
		if err := c.dispatch.Revoke(ctx, id, mid); err != nil {
			return c.settled(ctx, id, mid, err)
		}
		return c.tellRevoked(id, []string{mid})
	}
	mids, err := c.revokeFrom(ctx, id)
	if err != nil && len(mids) == 0 {
		return err
	}
	return errors.Join(c.tellRevoked(id, append([]string{}, mids...)), err)
}

func (c *call) tellRevoked(id string, mids []string) error {
	if c.out.json {
		return c.out.object(revoked{id, mids})
	}
	for _, mid := range mids {
		c.out.people("%s\n", mid)
	}
	return nil
}

func (c *call) revokeFrom(ctx context.Context, id string) ([]string, error) {
	switch sender := c.flags.String("sender"); sender {
	case "-":
		return c.dispatch.RevokeFrom(ctx, id, "")
	default:
		return c.dispatch.RevokeFrom(ctx, id, sender)
	}
}
