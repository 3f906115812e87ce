package main

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"github.com/docket-go/docket/dispatch/turns"
	"github.com/docket-go/docket/dispatch/watching"
)

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
	told, err := c.watches.Tell(ctx, id, o)
	c.reportEnded(told)
	var untold *watching.UntoldError
	const later = "docket drain --all tells it later, and docket serve does so by itself"
	switch {
	case calledOff(err):
		c.report.line(id, "interrupted before everybody was told who watches it: "+later)
	case errors.As(err, &untold):
		c.report.line(id, untoldWords(untold)+": "+later)
	case err != nil:
		c.report.line(id, "who watches it was not told: "+words(id, err))
	}
}

func (c *call) reportEnded(told watching.Told) {
	for _, by := range told.Ended {
		c.report.line(told.Session, by+" was closed, and watches it no more")
	}
}

// untoldWords say who could not be told, and why.
func untoldWords(untold *watching.UntoldError) string {
	by, others := untold.By[0], ""
	if more := len(untold.By) - 1; more > 0 {
		others = " and " + count(more, "other")
	}
	return by + others + " could not be told: " + words(by, untold.Err)
}

// A herald tells in the background what is declared on behalf of an agent.
type herald struct {
	watches *watching.Watches
	logger  *slog.Logger
	work    sync.WaitGroup
	turn    sync.Mutex
}

// after is f, with what it declares told to whoever watches the session, until ctx
// ends.
func (h *herald) after(ctx context.Context, id string, f func(context.Context, turns.Pending) error) func(context.Context, turns.Pending) error {
	return func(inTurn context.Context, p turns.Pending) error {
		if err := f(inTurn, p); err != nil {
			return err
		}
		h.work.Go(func() {
			h.turn.Lock()
			defer h.turn.Unlock()
			if _, err := tellLogged(ctx, h.watches, h.logger, id, watching.TellOptions{}); err != nil && ctx.Err() == nil {
				h.logger.Warn("not told", "session", id, "error", err)
			}
		})
		return nil
	}
}

// tending tells for those who died before they did, and asks for the messages to be
// delivered.
func tending(w *watching.Watches, logger *slog.Logger, nudge func(id string)) func(context.Context, string) error {
	return func(ctx context.Context, id string) error {
		told, err := tellLogged(ctx, w, logger, id, watching.TellOptions{NoDrain: true})
		for _, by := range told.To {
			nudge(by)
		}
		return err
	}
}

// tellLogged tells, and logs what was done.
func tellLogged(ctx context.Context, w *watching.Watches, logger *slog.Logger, id string, o watching.TellOptions) (watching.Told, error) {
	told, err := w.Tell(ctx, id, o)
	if told.Messages > 0 {
		logger.Info("told", "session", id, "messages", told.Messages)
	}
	for _, by := range told.Ended {
		logger.Info("watcher is closed", "session", id, "by", by)
	}
	return told, err
}
