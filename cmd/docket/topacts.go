package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/docket-go/docket/cmd/docket/internal/feed"
	"github.com/docket-go/docket/cmd/docket/internal/top"
	"github.com/docket-go/docket/dispatch"
)

// topActs are the sessions of a store as docket top reads them, and what it does to
// them.
type topActs struct {
	*feed.Feed
	call       *call
	soft, hard context.Context // no pass is begun after the first, nothing waited for after the second
	dispatch   *dispatch.Dispatcher
}

var _ top.Source = (*topActs)(nil)

func newTopActs(c *call, soft, hard context.Context) *topActs {
	inserts := &handovers{soft: soft, hard: hard, report: c.report}
	d := dispatch.New(c.store, dispatch.Options{Adapters: inserts.registry(kinds())})
	return &topActs{Feed: c.feed(), call: c, soft: soft, hard: hard, dispatch: d}
}

// Retry makes one delivery pass.
func (a *topActs) Retry(id string) (string, error) {
	p, err := a.dispatch.Drain(a.soft, id, dispatch.DrainOptions{})
	text := fmt.Sprintf("%d delivered, %d owed", len(p.Delivered), p.Owed)
	var ended *dispatch.PassError
	switch {
	case err == nil:
		return text, nil
	case errors.As(err, &ended):
		return "", errors.New(oneLine(text + ": " + reason(id, "", ended)))
	}
	return "", a.said(id, err)
}

// Revoke takes a message back.
func (a *topActs) Revoke(id, mid string) (string, error) {
	if err := a.dispatch.Revoke(a.hard, id, mid); err != nil {
		return "", a.refused("revoke", id, mid, err)
	}
	return oneLine(mid) + " is revoked", nil
}

// Confirm decides about an unconfirmed message.
func (a *topActs) Confirm(id, mid string, absent bool) (string, error) {
	s, err := a.dispatch.Confirm(a.hard, id, mid, absent)
	if err != nil {
		return "", a.refused("confirm", id, mid, err)
	}
	return fmt.Sprintf("%s is %s", oneLine(mid), s.Condition), nil
}

// refused gives a refusal the words that it has on the command line.
func (a *topActs) refused(verb, id, mid string, err error) error {
	c := *a.call
	c.verb = verb
	return a.said(id, c.settled(a.hard, id, mid, err))
}

func (a *topActs) said(id string, err error) error { return errors.New(oneLine(words(id, err))) }
