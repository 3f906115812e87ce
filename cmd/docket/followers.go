package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

// A watch follows several sessions at once.
type watch struct {
	call   *call
	ids    []string
	origin origin                     // of those without a cursor in --after
	next   map[string]timeline.Cursor // where each goes on: at first the cursor in --after
	behind map[string]bool            // whose history is not all handed over
}

// An origin says where in a log to begin.
type origin func(ctx context.Context, log *timeline.Log) (timeline.FollowOptions, error)

// fromThe begins where mode says.
func fromThe(mode timeline.Mode) origin {
	return func(context.Context, *timeline.Log) (timeline.FollowOptions, error) {
		return timeline.FollowOptions{Mode: mode}, nil
	}
}

// A step is what one session's follower has to say.
type step struct {
	id     string
	update timeline.Update
	err    error // of one line, or why it ended
	ended  bool
}

// watch prepares to follow the sessions that the arguments name: each from its
// cursor in --after, and without one from origin.
func (c *call) watch(origin origin) (*watch, error) {
	w := &watch{call: c, origin: origin, next: map[string]timeline.Cursor{}, behind: map[string]bool{}}
	w.ids = slices.Compact(slices.Sorted(slices.Values(c.args)))
	for _, id := range w.ids {
		w.behind[id] = true
	}
	if len(w.ids) == 1 {
		c.about(w.ids[0])
	}
	for _, text := range c.flags.StringSlice("after") {
		cursor, err := timeline.ParseCursor(text)
		if err != nil {
			return nil, err
		}
		id := cursor.Session()
		if len(w.ids) == 1 {
			id = w.ids[0] // the log itself says what is wrong with a foreign one
		}
		if !w.behind[id] {
			return nil, fmt.Errorf("%w: it is of session %q: name that session too", timeline.ErrForeignCursor, id)
		}
		w.next[id] = cursor
	}
	return w, nil
}

// run hands each event to event, one at a time, until that returns true, and calls
// caughtUp once, when the history of all sessions was handed over. A line that
// cannot be read is reported. So is a session that is closed meanwhile, and the
// others go on; the end of the last one ends the run.
func (w *watch) run(ctx context.Context, event func(id string, u timeline.Update) (done bool, err error), caughtUp func() error) error {
	ctx, stop := context.WithCancel(ctx)
	steps := make(chan step)
	wait, err := w.start(ctx, steps)
	defer wait()
	defer stop()
	for open := len(w.ids); err == nil && open > 0; {
		var s step
		select {
		case s = <-steps:
		case <-ctx.Done():
			return ctx.Err()
		}
		done := false
		switch {
		case s.ended:
			open--
			err = w.leave(s, open)
		case s.err != nil:
			w.call.report.line(s.id, words(s.id, s.err))
		case !s.update.CaughtUp:
			done, err = event(s.id, s.update)
		}
		if next := s.update.Next; !next.IsZero() {
			w.next[s.id] = next
		}
		if done {
			return err
		}
		if err == nil && (s.ended || s.update.CaughtUp) {
			err = w.reached(s.id, caughtUp)
		}
	}
	return err
}

// leave says what the end of one session's follower means for the run.
func (w *watch) leave(s step, open int) error {
	if errors.Is(s.err, timeline.ErrClosed) && open > 0 {
		w.call.report.complain(s.id, s.err)
		return nil
	}
	w.call.about(s.id)
	return s.err
}

// reached notes that a session's history was handed over.
func (w *watch) reached(id string, caughtUp func() error) error {
	if !w.behind[id] {
		return nil
	}
	if delete(w.behind, id); len(w.behind) > 0 {
		return nil
	}
	return caughtUp()
}

// start opens every session and lets its follower send to steps until ctx ends. The
// function that it returns waits for the followers and gives the sessions back.
func (w *watch) start(ctx context.Context, steps chan<- step) (wait func(), err error) {
	var followers sync.WaitGroup
	var opened []*session.Session
	wait = func() {
		followers.Wait()
		for _, s := range opened {
			s.Release()
		}
	}
	for _, id := range w.ids {
		s, err := w.call.store.Open(id)
		if err != nil {
			w.call.about(id)
			return wait, err
		}
		opened = append(opened, s)
	}
	for _, s := range opened {
		from, err := w.begin(ctx, s)
		if err != nil {
			w.call.about(s.ID())
			return wait, err
		}
		updates := s.Timeline().Follow(ctx, from)
		followers.Go(func() {
			last := step{id: s.ID(), ended: true}
			for u, err := range updates {
				var line *timeline.LineError
				if err != nil && !errors.As(err, &line) {
					last.err = err
					break
				}
				if !send(ctx, steps, step{id: s.ID(), update: u, err: err}) {
					break
				}
			}
			send(ctx, steps, last)
		})
	}
	return wait, nil
}

func (w *watch) begin(ctx context.Context, s *session.Session) (timeline.FollowOptions, error) {
	if after, given := w.next[s.ID()]; given {
		return timeline.FollowOptions{Mode: timeline.After, After: after}, nil
	}
	return w.origin(ctx, s.Timeline())
}

func send(ctx context.Context, steps chan<- step, s step) bool {
	select {
	case steps <- s:
		return true
	case <-ctx.Done():
		return false
	}
}
