package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/docket-go/docket/timeline"
)

// finished are the words that wait waits for: those that ask for somebody.
const finished = "review,done,asking,error,close-pending"

func waitVerb() verb {
	return verb{
		name: "wait", args: "ID...", min: 1, max: -1, run: runWait,
		short: "return at the first declaration that is waited for, and print it",
		example: "docket wait worker-1 worker-2 --timeout 30m\n" +
			"docket wait worker-1 --for done,error --after \"$(docket send worker-1 'run the tests' --json | jq -r .cursor)\"",
		flags: []cli.Flag{
			&cli.StringFlag{Name: "for", Value: finished, Usage: "the display `WORDS`, with commas between"},
			afterFlag(),
			&cli.DurationFlag{Name: "timeout", Usage: "give up after this time, such as 90s or 30m; 0s looks at what is there already", DefaultText: "never"},
		},
	}
}

func runWait(ctx context.Context, c *call) error {
	words := strings.Split(c.flags.String("for"), ",")
	if slices.Contains(words, "") {
		return &usageError{c.verb, "--for has an empty word: give words with commas between, such as done,error"}
	}
	timeout := c.flags.Duration("timeout")
	if timeout < 0 {
		return &usageError{c.verb, "--timeout is negative: give a time such as 90s"}
	}
	w, err := c.watch(timeline.TailOnly)
	if err != nil {
		return err
	}
	if timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, timeout)
		defer stop()
	}
	err = w.run(ctx,
		func(id string, u timeline.Update) (bool, error) {
			if !slices.Contains(words, u.Event.Display()) {
				return false, nil
			}
			return true, c.event(id, u)
		},
		func() error {
			if c.flags.IsSet("timeout") && timeout == 0 {
				return errNoEvent
			}
			return nil
		})
	if errors.Is(err, context.DeadlineExceeded) {
		return errNoEvent
	}
	return err
}
