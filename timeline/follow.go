package timeline

import (
	"context"
	"iter"
	"time"
)

// A Mode says where [Log.Follow] starts.
type Mode int

const (
	FromStart Mode = iota // with the first event
	After                 // with the event that FollowOptions.After names
	TailOnly              // with the first event committed after the call
)

// FollowOptions says where to start and how to wait. The zero value follows from
// the first event.
type FollowOptions struct {
	Mode  Mode
	After Cursor // with [After]

	// Poll is how often the log is looked at where the operating system gives no
	// notification. Zero means 250 ms. A negative value means that none is asked
	// for, and that the log is looked at every -Poll.
	Poll time.Duration
}

// An Update is one step of a follower: an event, or the mark that says that all
// history was delivered.
type Update struct {
	Event    Event
	CaughtUp bool   // there is no event in this update
	Next     Cursor // where to go on: after the event
}

// Follow yields history from where the options say, then exactly one update with
// CaughtUp set, then each event as it is committed: none is missing and none
// comes twice, across rotation and sealing. It holds nothing that a writer waits
// for, and works on a session that has no log yet.
//
// It ends with ctx's error, with [ErrClosed] when the session directory is
// removed, with one of the three cursor errors, or when the consumer stops. A
// [*LineError] stands for one unreadable line and does not end it. Everything
// that a follower uses is given back when the iteration ends.
func (l *Log) Follow(ctx context.Context, o FollowOptions) iter.Seq2[Update, error] {
	return func(yield func(Update, error) bool) { yield(Update{}, errSkeleton) }
}
