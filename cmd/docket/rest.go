package main

import (
	"context"
	"errors"
	"time"

	"github.com/docket-go/docket/timeline/session"
	"github.com/docket-go/docket/timeline/turn"
)

// restEvery is how often it is looked whether an agent has come to rest. What it waits
// for may end without an event: a message that is owed may be taken back.
const restEvery = 200 * time.Millisecond

// checkRest refuses flags that do not go with --wait, or not without it.
func (c *call) checkRest() error {
	if c.flags.Duration("timeout") < 0 {
		return &usageError{c.verb, "--timeout is negative: give a time such as 90s"}
	}
	if !c.flags.Bool("wait") {
		if c.flags.IsSet("timeout") {
			return &usageError{c.verb, "--timeout without --wait: give both"}
		}
		return nil
	}
	for _, other := range []string{"follow", "tail", "after"} {
		if c.flags.IsSet(other) {
			return &usageError{c.verb, "--wait with --" + other + ": leave one of the two out"}
		}
	}
	return nil
}

// waitForRest waits until the session is owed nothing and no turn is open, and prints how
// its last turn ended.
func (c *call) waitForRest(ctx context.Context, s *session.Session) error {
	log, err := turn.Read(s.Dir(), turn.ReadOptions{Session: s.ID()})
	if err != nil {
		return err
	}
	r, err := s.Record()
	if err != nil {
		return err
	}
	if !hosted(r.Adapter) {
		c.turnless(s)
		return nil
	}
	inTime, stop := ctx, context.CancelFunc(func() {})
	if timeout := c.flags.Duration("timeout"); timeout > 0 {
		inTime, stop = context.WithTimeout(ctx, timeout)
	}
	defer stop()
	end, err := c.untilRest(inTime, s, log)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		err = errNoEvent
	}
	if errors.Is(err, errNoEvent) {
		return &advised{"its agent is not done in time: docket turns " + s.ID() + " shows what it does, and docket pending " + s.ID() + " what is owed", err}
	}
	if err != nil || end.CaughtUp {
		return err
	}
	return errors.Join(c.turnUpdate(end), c.out.flush())
}

// untilRest looks until the session rests, and says once that no host is there. The error
// is errNoEvent where --timeout asks for one look.
func (c *call) untilRest(ctx context.Context, s *session.Session, log *turn.Log) (turn.Update, error) {
	once := c.flags.IsSet("timeout") && c.flags.Duration("timeout") == 0
	tick := time.NewTicker(restEvery)
	defer tick.Stop()
	for told := false; ; {
		end, rests, err := c.rest(ctx, s.ID(), log)
		if err != nil || rests {
			return end, err
		}
		if why := hostless(ctx, s); why != "" && !told {
			told = true
			c.report.line(s.ID(), why)
		}
		if once {
			return end, errNoEvent
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return end, ctx.Err()
		}
	}
}

// rest returns the end of the last turn, or the mark where there was none, once nothing
// more is to come: a message is owed until its turn has started. The cursor is behind what
// the log had before the look.
func (c *call) rest(ctx context.Context, id string, log *turn.Log) (end turn.Update, rests bool, err error) {
	n, err := c.dispatch.Owed(ctx, id)
	if err != nil || n > 0 {
		return end, false, err
	}
	place, err := log.End(ctx)
	if err != nil {
		return end, false, err
	}
	last, found, err := log.Latest(ctx)
	if err != nil {
		return end, false, err
	}
	_, over := last.Payload.(turn.Finished)
	return turn.Update{Event: last, CaughtUp: !found, Next: place}, over || !found, nil
}
