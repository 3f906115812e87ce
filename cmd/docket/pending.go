package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/timeline/session"
)

func pendingVerb() verb {
	return verb{
		name: "pending", args: "[ID|--all]", max: 1, run: runPending,
		brief:   true,
		short:   "print what a session is still owed, in order, and why",
		example: "docket pending worker-1\ndocket pending --all --json",
		flags:   []verbFlag{{name: "all", takes: nothing, usage: "of every session of the store"}},
	}
}

// owed is one entry of pending in JSON.
type owed struct {
	Session     string             `json:"session"`
	MID         string             `json:"mid"`
	From        *string            `json:"from"`
	Text        string             `json:"text"`
	EnqueuedAt  *string            `json:"enqueuedAt"`
	Attempts    int                `json:"attempts"`
	LastAttempt *string            `json:"lastAttempt"`
	LastError   *string            `json:"lastError"`
	State       dispatch.Condition `json:"state"`
	Handing     bool               `json:"handing"` // it is being handed over now
	Attributes  map[string]string  `json:"attributes,omitempty"`
	Operation   string             `json:"operation,omitempty"`
}

func runPending(ctx context.Context, c *call) error {
	ids, err := c.chosen(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := c.printPending(ctx, id); err != nil {
			c.report.complain(id, err)
		}
	}
	return nil
}

func (c *call) printPending(ctx context.Context, id string) error {
	now, place := time.Now(), 0
	for e, err := range c.dispatch.Debts(ctx, id) {
		if err != nil {
			return err
		}
		if place++; place == 1 && !e.Unconfirmed() && !e.Handing {
			e.LastError = cmp.Or(c.hostless(ctx, id), e.LastError) // what the last pass met is over
		}
		if !c.out.json {
			c.out.people("%s\n", owedBlock(id, place, e, now))
			continue
		}
		answer := owed{
			Session: id, MID: e.MID, From: orNull(e.From), Text: e.Text, EnqueuedAt: stamp(e.EnqueuedAt),
			Attempts: e.Attempts, LastAttempt: stamp(e.LastAttempt), LastError: orNull(e.LastError),
			State: e.Condition(), Attributes: e.Attributes, Handing: e.Handing,
		}
		if e.Dispatch != nil {
			answer.Operation = e.Dispatch.Operation
		}
		if err := c.out.object(answer); err != nil {
			return err
		}
	}
	return nil
}

// hostless is [hostless] of a session that is only named. The list stands without it.
func (c *call) hostless(ctx context.Context, id string) (why string) {
	_ = c.with(id, func(s *session.Session) error {
		why = hostless(ctx, s)
		return nil
	})
	return why
}

// owedBlock returns an entry for people: its place, its history and its text.
func owedBlock(id string, place int, e dispatch.Debt, now time.Time) string {
	head := fmt.Sprintf("%s  %d. %s  from %s  %s", id, place, e.MID, sender(e.From), e.Condition())
	if !e.EnqueuedAt.IsZero() {
		head += "  for " + age(now.Sub(e.EnqueuedAt))
	}
	if e.Handing {
		head += "  being handed over now, since " + when(e.Claimed)
	} else if e.Attempts > 0 {
		head += "  " + count(e.Attempts, "attempt") + ", last " + when(e.LastAttempt)
	}
	head = oneLine(head) + "\n"
	if e.LastError != "" {
		head += "    why: " + oneLine(e.LastError) + "\n"
	}
	return head + spoken(e.Text)
}

// age rounds a time so that it can be read at a glance.
func age(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < time.Minute:
		return d.Round(time.Second).String()
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}
