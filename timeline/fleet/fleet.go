package fleet

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path"
	"time"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

// A Mode says where [Follow] starts.
type Mode int

const (
	FromStart Mode = iota // with the first event of each session
	After                 // behind Options.After
	TailOnly              // with the first event committed after the call of Follow
)

// Options says which sessions to follow, from where, and how to wait. The zero value
// follows all of a store from their first event.
type Options struct {
	// Match are patterns of [path.Match], of which a session's id must fit one. None
	// means that every session is followed. If all are plain ids, the store is not
	// listed for them.
	Match []string

	Mode  Mode
	After Cursor // with [After]

	// Poll is how often the sessions are looked at where the operating system gives no
	// notification, or not for all: one stat for each such session, and a listing of
	// the store. It is a quarter as often while nothing happens. With notification all
	// are looked at every 16 Polls, in case one got lost, and every 256 where the
	// system says so itself, on a local file system of Linux. There is notification on
	// Linux, for as many sessions as the user may have watches of the system. Zero
	// means 250 ms; a negative value means -Poll, and that none is asked for.
	Poll time.Duration
}

// An Update is one step of a follower: an event of a session, or one of the marks.
type Update struct {
	Session  string         // empty for CaughtUp
	Event    timeline.Event // zero for a mark
	CaughtUp bool           // everything that was there at the call was delivered
	Joined   bool           // the session appeared: its events follow, from the first
	Left     bool           // the session was closed: nothing more comes from it
	Next     Cursor         // where to go on: behind this update

	// At is the place behind the event in the session's own timeline. It is zero for a
	// mark, and for an error.
	At timeline.Cursor
}

// Follow yields the events of all sessions of the store that Options.Match names: what
// is there, then one update with CaughtUp set, then each event as it is committed,
// until ctx ends. Sessions join and leave meanwhile. The store need not exist yet.
//
// With [FromStart] every session joins at the start. With [TailOnly] those that are
// there do not: they begin where they end at the call. With [After] they go on from
// the cursor; those that are not in it join, and those that are closed since leave. A
// place in a session that Match does not name is kept in the cursors that follow.
//
// The iteration ends with ctx's error; when the consumer stops; or at once with
// [path.ErrBadPattern], an error of listing the store, [timeline.ErrMalformedCursor]
// for the zero cursor, or [timeline.ErrForeignCursor] for one of another store: the
// store holds none of its sessions and has closed none of them, nor is it that of a
// [Position]. An error of a single session is a [*SessionError], comes with its session
// and a Next, and does not end it. One whose log ends before the cursor's place wraps
// [timeline.ErrFutureCursor].
//
// The sessions are looked at, and watched, when Follow is called; that is given back
// when the iteration ends, or with ctx if there was none. A second iteration starts as
// a second call would. Memory does not grow while the consumer is slow.
func Follow(ctx context.Context, store *session.Store, o Options) iter.Seq2[Update, error] {
	f, err := prepare(ctx, store, o)
	unused := func() bool { return true }
	if err == nil {
		unused = context.AfterFunc(ctx, f.close)
	}
	first := true
	return func(yield func(Update, error) bool) {
		if !first {
			f, err = prepare(ctx, store, o)
		} else if !unused() {
			err = ctx.Err()
		}
		first = false
		if err == nil {
			f.yield = yield
			err = f.run()
			f.close()
		}
		if !errors.Is(err, errStopped) {
			yield(Update{}, err)
		}
	}
}

// matches reports whether a session is one of those to follow.
func (o *Options) matches(id string) bool {
	for _, pattern := range o.Match {
		if fits, _ := path.Match(pattern, id); fits {
			return true
		}
	}
	return len(o.Match) == 0
}

// plain reports whether Match names sessions, and has no pattern.
func (o *Options) plain() bool {
	for _, id := range o.Match {
		if session.ValidID(id) != nil {
			return false
		}
	}
	return len(o.Match) > 0
}

func (o *Options) check() error {
	for _, pattern := range o.Match {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("fleet: %q: %w", pattern, err)
		}
	}
	switch {
	case o.Mode < FromStart || o.Mode > TailOnly:
		return fmt.Errorf("fleet: no such mode of following: %d", o.Mode)
	case o.Mode == After && o.After.IsZero():
		return fmt.Errorf("fleet: %w: the zero cursor names no place", timeline.ErrMalformedCursor)
	}
	return nil
}
