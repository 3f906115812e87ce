package main

import (
	"context"
	"errors"
	"fmt"
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
		more: "What counts is what is declared behind the newest message to the session, or, if\n" +
			"there was none, from the beginning; with --after, what is behind the cursor.\n\n" +
			"The words are those that docket log shows: " + strings.Join(displayWords, ", ") + ".",
		example: "docket wait worker-1 worker-2 --timeout 30m\n" +
			"docket wait worker-1 --for done,error --after \"$(docket send worker-1 'run the tests' --json | jq -r .cursor)\"",
		flags: []cli.Flag{
			&cli.StringFlag{Name: "for", Value: finished, Usage: "the `WORDS` to wait for, with commas between"},
			afterFlag(),
			&cli.DurationFlag{Name: "timeout", Usage: "give up after this time, such as 90s or 30m; 0s looks at what is there already", DefaultText: "never"},
		},
	}
}

func runWait(ctx context.Context, c *call) error {
	awaited, err := c.awaited()
	if err != nil {
		return err
	}
	timeout := c.flags.Duration("timeout")
	if timeout < 0 {
		return &usageError{c.verb, "--timeout is negative: give a time such as 90s"}
	}
	w, err := c.watch(behindSent)
	if err != nil {
		return err
	}
	inTime := ctx
	if timeout > 0 {
		var stop context.CancelFunc
		inTime, stop = context.WithTimeout(ctx, timeout)
		defer stop()
	}
	err = w.run(inTime,
		func(id string, u timeline.Update) (bool, error) {
			if !slices.Contains(awaited, u.Event.Display()) {
				return false, nil
			}
			return true, c.event(id, u)
		},
		func() error {
			if c.flags.IsSet("timeout") && timeout == 0 {
				return errNoEvent
			}
			if c.flags.Bool("verbose") {
				c.report.line(c.report.subject, "waiting for "+alternatives(awaited))
			}
			return nil
		})
	switch {
	case errors.Is(err, context.Canceled):
		return &advised{w.interruption(), err}
	case errors.Is(err, errNoEvent), errors.Is(err, context.DeadlineExceeded):
		return &advised{w.missed(awaited), errNoEvent}
	}
	return err
}

// behindSent begins behind the newest message, so that an answer to it counts
// however soon it came, and what was declared before it does not.
func behindSent(ctx context.Context, log *timeline.Log) (timeline.FollowOptions, error) {
	for n := 64; ; n *= 8 {
		page, err := log.Tail(ctx, n)
		if err != nil {
			return timeline.FollowOptions{}, err
		}
		for _, e := range slices.Backward(page.Events) {
			if e.Kind == timeline.KindSent {
				after, err := log.CursorAfter(ctx, e)
				return timeline.FollowOptions{Mode: timeline.After, After: after}, err
			}
		}
		if len(page.Events) < n {
			return timeline.FollowOptions{Mode: timeline.FromStart}, nil
		}
	}
}

// missed says what did not come.
func (w *watch) missed(awaited []string) string {
	return fmt.Sprintf("no %s of %s in time: allow more with --timeout, or see docket log %s",
		alternatives(awaited), alternatives(w.ids), w.ids[0])
}

// interruption says how to go on.
func (w *watch) interruption() string {
	again := "docket wait " + strings.Join(w.ids, " ")
	for _, id := range w.ids {
		if next, known := w.next[id]; known {
			again += " --after " + next.String()
		}
	}
	return "interrupted: nothing that was waited for came yet: go on with " + again
}

// alternatives lists words, as in "a, b or c".
func alternatives(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
