package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/fleet"
	"github.com/docket-go/docket/timeline/session"
)

// Followers follow the sessions that the arguments of a verb name, and those that fit
// the patterns among them.
type followers struct {
	call     *call
	names    []string        // ids and patterns, each once
	patterns bool            // there is a pattern among them
	open     map[string]bool // without patterns, the sessions that are not closed yet
	options  fleet.Options
	next     fleet.Cursor // where to go on
	keep     *keeper      // nil without --as
}

// followers prepares to follow what the arguments name, from nowhere yet.
func (c *call) followers() (*followers, error) {
	f := &followers{call: c, open: map[string]bool{}, names: slices.Compact(slices.Sorted(slices.Values(c.args)))}
	for _, name := range f.names {
		if _, err := path.Match(name, ""); err != nil {
			return nil, &usageError{c.verb, fmt.Sprintf("%q is no pattern: give an id, or a pattern such as 'team-*'", name)}
		}
		f.patterns = f.patterns || isPattern(name)
		f.open[name] = true
	}
	if len(f.names) == 1 && !f.patterns {
		c.about(f.names[0])
	}
	return f, nil
}

// isPattern reports whether an argument can fit other ids than itself.
func isPattern(name string) bool { return strings.ContainsAny(name, `*?[\`) }

// fits reports whether a session is one of those that are followed.
func (f *followers) fits(id string) bool {
	return slices.ContainsFunc(f.names, func(name string) bool {
		ok, _ := path.Match(name, id)
		return ok
	})
}

// given returns the place that --after names, the zero cursor without it. Each cursor
// is one of the fleet, of which there is one at most, or of a session.
func (f *followers) given() (after fleet.Cursor, singles []timeline.Cursor, err error) {
	for _, text := range f.call.flags.StringSlice("after") {
		one, notOne := timeline.ParseCursor(text)
		if notOne == nil {
			singles = append(singles, one)
			continue
		}
		whole, err := fleet.ParseCursor(text)
		switch {
		case err != nil:
			return after, nil, notOne
		case !after.IsZero():
			return after, nil, &usageError{f.call.verb, "two cursors of a fleet: give one of them"}
		}
		after = whole
	}
	for i, one := range singles {
		id := one.Session()
		if len(f.names) == 1 && !f.patterns {
			id = f.names[0] // the log itself says what is wrong with a foreign one
		}
		if !f.fits(id) {
			return after, nil, fmt.Errorf("%w: it is of session %q: name that session too", timeline.ErrForeignCursor, id)
		}
		singles[i] = one
	}
	return after, singles, nil
}

// begin finds out where to begin: at the places in --after or, with --as, at the
// reader's own; elsewhere as mode says. Every session that is named must be there.
func (f *followers) begin(ctx context.Context, mode fleet.Mode) error {
	after, singles, err := f.given()
	if err != nil {
		return err
	}
	for _, name := range f.names {
		if isPattern(name) {
			continue
		}
		err := f.call.with(name, func(s *session.Session) error { return fitting(ctx, s, singles, len(f.names) == 1) })
		if err != nil {
			f.call.about(name)
			return err
		}
	}
	if len(singles) > 0 {
		after = after.With(singles...)
	}
	if f.keep, err = f.call.keeper(); err != nil {
		return err
	}
	if f.keep != nil {
		after = f.keep.position.Cursor()
	}
	f.options = fleet.Options{Match: f.names, Mode: mode}
	if mode != fleet.TailOnly && !after.IsZero() {
		f.goOn(after)
	}
	return nil
}

// fitting returns nil if those of the cursors that are of the session are places in its
// timeline. If it is the only one, all must be.
func fitting(ctx context.Context, s *session.Session, cursors []timeline.Cursor, only bool) error {
	for _, one := range cursors {
		if one.Session() != s.ID() && !only {
			continue
		}
		end, err := s.Timeline().End(ctx)
		if err == nil {
			err = one.Fits(s.ID(), end.Epoch(), end.Seq())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// close gives back what begin opened.
func (f *followers) close() { f.keep.close() }

func (f *followers) goOn(after fleet.Cursor) {
	f.options.Mode, f.options.After, f.next = fleet.After, after, after
}

// A listener takes what followers have to say.
type listener struct {
	event    func(u fleet.Update) (done bool, err error)
	changed  func(u fleet.Update) error // a session joined or left
	caughtUp func() error
	each     bool // each update moves the position of --as; otherwise the last event does
}

// A heard is one update, or what is wrong.
type heard struct {
	update fleet.Update
	err    error
}

// run hands over each update, one at a time, until an event is the last one. A line
// that cannot be read is reported. Without patterns so is a session that is closed
// meanwhile, and the others go on; the end of the last one ends the run.
func (f *followers) run(ctx context.Context, l listener) (err error) {
	defer func(ctx context.Context) {
		if unsaved := f.keep.save(ctx); unsaved != nil && (err == nil || calledOff(err)) {
			err = unsaved
		}
	}(context.WithoutCancel(ctx))
	ctx, stop := context.WithCancel(ctx)
	news := make(chan heard)
	updates := fleet.Follow(ctx, f.call.store, f.options)
	var following sync.WaitGroup
	defer following.Wait()
	defer stop()
	following.Go(func() {
		for u, err := range updates {
			select {
			case news <- heard{u, err}:
			case <-ctx.Done():
				return
			}
		}
	})
	for {
		select {
		case s := <-news:
			done, err := f.take(s, l)
			if err == nil {
				err = f.keep.note(ctx, s.update, done, l.each)
			}
			if done || err != nil {
				return err
			}
		case <-f.keep.due():
			if err := f.keep.save(ctx); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// take hands over what was heard.
func (f *followers) take(s heard, l listener) (done bool, err error) {
	u := s.update
	if !u.Next.IsZero() {
		f.next = u.Next
	}
	var own *fleet.SessionError
	switch isOwn := errors.As(s.err, &own); {
	case isOwn:
		return false, f.fault(own)
	case s.err != nil:
		return false, s.err
	case u.CaughtUp:
		return false, errors.Join(f.miss(), l.caughtUp())
	case f.patterns && (u.Joined || u.Left):
		return false, l.changed(u)
	case u.Left:
		return false, f.leave(u.Session)
	case u.Joined, !f.patterns && !f.open[u.Session]:
		return false, nil
	}
	return l.event(u)
}

// fault says what is wrong with one session. If it is more than a line, a session that
// was named ends the run.
func (f *followers) fault(own *fleet.SessionError) error {
	var line *timeline.LineError
	err := f.keep.explained(own.Session, own.Err)
	switch {
	case errors.As(err, &line):
		f.call.report.line(own.Session, words(own.Session, err))
	case f.patterns:
		f.call.report.complain(own.Session, err)
	default:
		f.call.about(own.Session)
		return err
	}
	return nil
}

// miss looks, once all is there, for what is not: a session that was closed at the very
// start, or patterns that no session fits.
func (f *followers) miss() error {
	if f.patterns {
		f.call.missing()
		if !slices.ContainsFunc(f.next.Sessions(), f.fits) {
			f.call.report.line(f.call.report.subject, "no session fits "+alternatives(f.names)+" yet: waiting for one")
		}
		return nil
	}
	for _, id := range f.names {
		if _, there := f.next.Seq(id); !there {
			if err := f.leave(id); err != nil {
				return err
			}
		}
	}
	return nil
}

// leave says what it means that a session that was named is closed.
func (f *followers) leave(id string) error {
	if !f.open[id] {
		return nil
	}
	delete(f.open, id)
	closed := fmt.Errorf("session %s: %w", id, timeline.ErrClosed)
	if len(f.open) > 0 {
		f.call.report.complain(id, closed)
		return nil
	}
	f.call.about(id)
	return closed
}

// again is the command line that goes on where the followers are.
func (f *followers) again() string {
	line := "docket " + f.call.verb
	for _, name := range f.names {
		if isPattern(name) {
			name = "'" + name + "'"
		}
		line += " " + name
	}
	if f.keep != nil {
		return line + " --as " + f.keep.name
	}
	return line + " --after " + f.next.String()
}
