package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/fleet"
	"github.com/docket-go/docket/timeline/session"
)

// finished are the words that wait waits for, as help shows them: those at which an event
// stops the work. Without --for any other proposal does so, too.
const finished = "review,done,asking,error,close-pending"

func waitVerb() verb {
	return verb{
		name: "wait", args: "ID|PATTERN...", min: 1, max: -1, run: runWait,
		short: "return at the first declaration that is waited for, and print it",
		more: "What counts is what is declared behind the newest message to the session, or, if\n" +
			"there was none, from the beginning; with --after, what is behind the cursor. A status\n" +
			"that is declared again with the same note is no event: an agent that answers two\n" +
			"messages in the same words has to declare active in between. A pattern, such as\n" +
			"'team-*', stands for the sessions that fit it; of one that comes later all counts.\n\n" +
			"With --as, what counts is what is behind the reader's place, which moves to just behind\n" +
			"the event that is printed: each wait returns the next one. Only a session that is new to\n" +
			"the reader begins as without it.\n\n" +
			"Without --for it also returns at any other proposal, and at awaiting without one.\n\n" +
			"The words are those that docket log shows: " + strings.Join(displayWords, ", ") + ".\n" +
			"Another one is waited for too, as an agent may declare its own.",
		example: "docket wait worker-1 worker-2 --timeout 30m\ndocket wait 'team-*' --as lead\n" +
			"docket wait worker-1 --for done,error --after \"$(docket send worker-1 'run the tests' --json | jq -r .cursor)\"",
		flags: []verbFlag{
			{name: "for", initial: finished, usage: "the `WORDS` to wait for, with commas between"},
			afterFlag(),
			asFlag("one event after the other"),
			{name: "timeout", takes: aTime, usage: "give up after this time, such as 90s or 30m; 0s looks at what is there already", unset: "never"},
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
	if err := c.exclude("after", "as"); err != nil {
		return err
	}
	f, err := c.followers()
	if err != nil {
		return err
	}
	defer f.close()
	if err := f.beginBehindSent(ctx); err != nil {
		return err
	}
	inTime := ctx
	if timeout > 0 {
		var stop context.CancelFunc
		inTime, stop = context.WithTimeout(ctx, timeout)
		defer stop()
	}
	err = f.run(inTime, listener{
		event: func(u fleet.Update) (bool, error) {
			if !c.counts(u.Event, awaited) {
				return false, nil
			}
			return true, errors.Join(c.fleetEvent(u), c.out.flush())
		},
		changed: func(fleet.Update) error { return nil },
		caughtUp: func() error {
			if c.flags.IsSet("timeout") && timeout == 0 {
				return errNoEvent
			}
			if c.flags.Bool("verbose") {
				c.report.line(c.report.subject, "waiting for "+alternatives(awaited))
			}
			return nil
		},
	})
	switch {
	case errors.Is(err, context.Canceled):
		return &advised{"interrupted: nothing that was waited for came yet: go on with " + f.again(), err}
	case errors.Is(err, errNoEvent), errors.Is(err, context.DeadlineExceeded):
		return &advised{f.missed(ctx, awaited), errNoEvent}
	}
	return err
}

// counts reports whether an event is one that is waited for.
func (c *call) counts(e timeline.Event, awaited []string) bool {
	if !c.flags.IsSet("for") {
		return e.Stops()
	}
	return slices.Contains(awaited, e.Display())
}

// beginBehindSent begins behind the newest message to each session, unless a cursor or
// the reader's position says otherwise.
func (f *followers) beginBehindSent(ctx context.Context) error {
	if err := f.begin(ctx, fleet.FromStart); err != nil {
		return err
	}
	ids, err := f.present(ctx)
	if err != nil {
		return err
	}
	known := f.next.Sessions()
	var places []timeline.Cursor
	for _, id := range ids {
		if _, is := slices.BinarySearch(known, id); is {
			continue
		}
		var place timeline.Cursor
		err := f.call.with(id, func(s *session.Session) (err error) {
			place, err = behindSent(ctx, s.Timeline())
			return err
		})
		switch {
		case err == nil:
			places = append(places, place)
		case ctx.Err() != nil || !f.patterns: // else whoever follows it says what is wrong
			f.call.about(id)
			return err
		}
	}
	f.goOn(f.next.With(places...))
	if f.keep == nil {
		return nil
	}
	return f.keep.hold(ctx, f.next)
}

// present returns the sessions of the store that are followed.
func (f *followers) present(ctx context.Context) ([]string, error) {
	if !f.patterns {
		return f.names, nil
	}
	ids, err := f.call.ids(ctx)
	return slices.DeleteFunc(ids, func(id string) bool { return !f.fits(id) }), err
}

// behindSent is the place behind the newest message, so that an answer to it counts
// however soon it came, and what was declared before it does not.
func behindSent(ctx context.Context, log *timeline.Log) (timeline.Cursor, error) {
	for n := 64; ; n *= 8 {
		page, err := log.Tail(ctx, n)
		if err != nil {
			return timeline.Cursor{}, err
		}
		for _, e := range slices.Backward(page.Events) {
			if e.Kind == timeline.KindSent {
				return log.CursorAfter(ctx, e)
			}
		}
		if len(page.Events) < n {
			return log.Start(ctx)
		}
	}
}

// conjunction lists words, as in "a, b and c".
func conjunction(words []string) string { return list(words, " and ") }

// alternatives lists words, as in "a, b or c".
func alternatives(words []string) string { return list(words, " or ") }

func list(words []string, last string) string {
	if len(words) == 1 {
		return words[0]
	}
	end := len(words) - 1
	return strings.Join(words[:end], ", ") + last + words[end]
}
