package main

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/dispatch/watching"
)

// drainParallel bounds the sessions that drain --all works on at once.
const drainParallel = 8

func drainVerb() verb {
	return verb{
		name: "drain", args: "[ID|--all]", max: 1, run: runDrain,
		changes: true,
		short:   "make one delivery pass: hand over what is owed, oldest first",
		example: "docket drain worker-1\n" +
			"docket drain --all\n" +
			"docket drain worker-1 --adapter file --set path=/tmp/prompts.ndjson",
		flags: []verbFlag{
			{name: "all", takes: nothing, usage: "every session of the store that is owed something"},
			{name: "adapter", usage: "hand over through the adapter `NAME` in place of the session's own"},
			{name: "set", takes: several, usage: "a setting of that adapter, `NAME=VALUE`; may be repeated"},
			{name: "redeliver", usage: "hand the unconfirmed message `MID` over again: it did not arrive"},
		},
	}
}

// drained is the answer of drain in JSON.
type drained struct {
	Session   string   `json:"session"`
	Delivered []string `json:"delivered"`
	Owed      int      `json:"owed"`
	Error     *string  `json:"error"`
	MID       *string  `json:"mid"` // the message at which it stopped
}

func runDrain(ctx context.Context, c *call) error {
	settings, err := c.pairs("set")
	if err != nil {
		return err
	}
	name := c.flags.String("adapter")
	if name == "" && settings != nil {
		return &usageError{c.verb, "--set without --adapter: name the adapter that it is for"}
	}
	if c.flags.Bool("all") && c.flags.IsSet("redeliver") {
		return &usageError{c.verb, "--redeliver with --all: name the session of the message"}
	}
	ids, err := c.indebted(ctx)
	if err != nil {
		return err
	}
	if name != "" {
		if settings, err = kinds().Settle(name, settings); err != nil {
			return err
		}
	}
	if mid := c.flags.String("redeliver"); mid != "" {
		if err := c.unconfirmed(ctx, ids[0], mid); err != nil {
			return err
		}
	}
	return c.drainAll(ctx, ids, name, settings)
}

// indebted returns the sessions to drain; with --all those that are owed
// something, or whose queue cannot be read, once all were told what they watch.
func (c *call) indebted(ctx context.Context) ([]string, error) {
	ids, err := c.chosen(ctx)
	if err != nil || !c.flags.Bool("all") {
		return ids, err
	}
	for _, id := range ids {
		c.tell(ctx, id, watching.TellOptions{NoDrain: true})
	}
	var owing []string
	for _, id := range ids {
		if n, err := c.dispatch.Owed(ctx, id); err != nil || n > 0 {
			owing = append(owing, id)
		}
	}
	return owing, nil
}

// unconfirmed refuses to redeliver what nobody doubts.
func (c *call) unconfirmed(ctx context.Context, id, mid string) error {
	s, err := c.dispatch.State(ctx, id, mid)
	if err == nil && s.Condition != dispatch.Unconfirmed && !s.Handing {
		err = fmt.Errorf("message %s is %s: %w: leave out --redeliver", mid, s.Condition, dispatch.ErrNotUnconfirmed)
	}
	return err
}

// A drainedPass is one pass and how it ended.
type drainedPass struct {
	dispatch.Pass
	err error
}

// drainAll makes the passes, several sessions at once, and prints them in the order
// of ids.
func (c *call) drainAll(ctx context.Context, ids []string, name string, settings map[string]string) error {
	passes := make([]chan drainedPass, len(ids))
	var group errgroup.Group
	group.SetLimit(drainParallel)
	for i := range ids {
		passes[i] = make(chan drainedPass, 1)
	}
	go func() {
		for i, id := range ids {
			group.Go(func() error {
				p, err := c.drain(ctx, id, name, settings)
				passes[i] <- drainedPass{p, err}
				return nil
			})
		}
	}()
	var failed, interrupted error
	still := false
	for i, id := range ids {
		p := <-passes[i]
		failed = errors.Join(failed, c.printPass(id, p))
		var ended *dispatch.PassError
		if calledOff(p.err) {
			interrupted = p.err
		}
		if errors.As(p.err, &ended) && statusOf(p.err) != statusCorrupt {
			still = true
		} else if p.err != nil && !calledOff(p.err) {
			c.report.complain(id, p.err)
		}
	}
	if still && c.report.status == statusDone {
		c.report.status = statusStillOwed
	}
	return errors.Join(failed, interrupted)
}

func (c *call) drain(ctx context.Context, id, name string, settings map[string]string) (dispatch.Pass, error) {
	o := dispatch.DrainOptions{Redeliver: c.flags.String("redeliver")}
	if name != "" {
		s, err := c.store.Open(id)
		if err != nil {
			return dispatch.Pass{}, err
		}
		defer s.Release()
		if o.Adapter, err = c.kinds.Open(name, adapter.Session{ID: id, Dir: s.Dir(), Store: c.store.Dir()}, settings); err != nil {
			return dispatch.Pass{}, err
		}
		defer o.Adapter.Close()
	}
	return c.dispatch.Drain(ctx, id, o)
}

// printPass prints what a pass did. For people an error that is no result of the
// pass is left to standard error.
func (c *call) printPass(id string, p drainedPass) error {
	why, mid := "", ""
	var ended *dispatch.PassError
	switch {
	case errors.As(p.err, &ended):
		why, mid = reason(id, "", ended), ended.MID
	case p.err != nil:
		why = words(id, p.err)
	}
	if p.err != nil && ended == nil && len(p.Delivered) == 0 && (!c.out.json || statusOf(p.err) == statusNotFound) {
		return nil
	}
	if c.out.json {
		delivered := append([]string{}, p.Delivered...)
		return c.out.object(drained{id, delivered, p.Owed, orNull(why), orNull(mid)})
	}
	line := fmt.Sprintf("%s: %d delivered, %d owed", id, len(p.Delivered), p.Owed)
	if why != "" {
		line += ": " + why
	}
	c.out.people("%s\n", oneLine(line))
	return nil
}
