package main

import (
	"context"
	"errors"
	"log/slog"

	"github.com/docket-go/docket/dispatch/watching"
)

// watches are those of the store.
func (c *call) watches() *watching.Watches {
	return watching.New(c.store, c.dispatch, watching.Options{})
}

// thenTell prints what was done, and then sends to whoever watches the session what it
// declared.
func (c *call) thenTell(ctx context.Context, id string) error {
	if err := c.out.flush(); err != nil {
		return err
	}
	c.tell(ctx, id, watching.TellOptions{})
	return nil
}

// tell sends to whoever watches the session what it declared. Who cannot be told now is
// told later, so that is reported and changes nothing.
func (c *call) tell(ctx context.Context, id string, o watching.TellOptions) {
	told, err := c.watches().Tell(ctx, id, o)
	for _, by := range told.Ended {
		c.report.line(id, by+" was closed, and watches it no more")
	}
	var untold *watching.UntoldError
	switch {
	case errors.As(err, &untold):
		by := untold.By[0]
		others := ""
		if more := len(untold.By) - 1; more > 0 {
			others = " and " + count(more, "other")
		}
		c.report.line(id, by+others+" could not be told: "+words(by, untold.Err)+": docket drain --all tells it later, and docket serve does so by itself")
	case err != nil:
		c.report.line(id, "who watches it was not told: "+words(id, err))
	}
}

// tending tells for those who died before they did, and asks for the messages to be
// delivered.
func tending(w *watching.Watches, logger *slog.Logger, nudge func(id string)) func(context.Context, string) error {
	return func(ctx context.Context, id string) error {
		told, err := w.Tell(ctx, id, watching.TellOptions{NoDrain: true})
		if told.Messages > 0 {
			logger.Info("told", "session", id, "messages", told.Messages)
		}
		for _, by := range told.Ended {
			logger.Info("watcher is closed", "session", id, "by", by)
		}
		for _, by := range told.To {
			nudge(by)
		}
		return err
	}
}
