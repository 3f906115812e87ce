package main

import (
	"context"

	"github.com/docket-go/docket/dispatch"
)

func stateVerb() verb {
	return verb{
		name: "state", args: "ID MID", min: 2, max: 2, run: runState,
		brief:   true,
		short:   "print the one state of a message: owed, unconfirmed, delivered or revoked",
		example: "docket state worker-1 \"$(docket send worker-1 'run the tests')\"",
	}
}

// state is the answer of state in JSON.
type state struct {
	Session     string             `json:"session"`
	MID         string             `json:"mid"`
	State       dispatch.Condition `json:"state"`
	AcceptedAt  *string            `json:"acceptedAt"`
	EndedAt     *string            `json:"endedAt"`
	Attempts    int                `json:"attempts"`
	LastAttempt *string            `json:"lastAttempt"`
	LastError   *string            `json:"lastError"`
	Reason      *string            `json:"reason"`
	Handing     bool               `json:"handing"` // it is being handed over now
}

func runState(ctx context.Context, c *call) error {
	id := c.about(c.args[0])
	s, err := c.dispatch.State(ctx, id, c.args[1])
	if err != nil {
		return err
	}
	if c.out.json {
		return c.out.object(state{
			Session: s.Session, MID: s.MID, State: s.Condition, AcceptedAt: stamp(s.AcceptedAt), EndedAt: stamp(s.EndedAt),
			Attempts: s.Attempts, LastAttempt: stamp(s.LastAttempt), LastError: orNull(s.LastError), Reason: orNull(s.Reason), Handing: s.Handing,
		})
	}
	c.out.people("%s\n", s.Condition)
	c.out.people("accepted %s\n", when(s.AcceptedAt))
	if !s.EndedAt.IsZero() {
		c.out.people("%s %s\n", s.Condition, when(s.EndedAt))
	}
	if s.Handing {
		c.out.people("being handed over now, since %s\n", when(s.LastAttempt))
	} else if s.Attempts > 0 {
		c.out.people("%s, last %s\n", count(s.Attempts, "attempt"), when(s.LastAttempt))
	}
	for _, why := range []string{s.LastError, s.Reason} {
		if why != "" && why != string(s.Condition) {
			c.out.people("why: %s\n", oneLine(why))
		}
	}
	return nil
}
