package timeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"time"

	"github.com/docket-go/docket/timeline/segment"
	"github.com/docket-go/docket/timeline/watch"
)

// A Mode says where [Log.Follow] starts.
type Mode int

const (
	FromStart Mode = iota // with the first event
	After                 // with the event that FollowOptions.After names
	TailOnly              // with the first event committed after the call of Follow
)

// FollowOptions says where to start and how to wait. The zero value follows from
// the first event.
type FollowOptions struct {
	Mode  Mode
	After Cursor // with [After]

	// Poll is how often the log is looked at where the operating system gives no
	// notification, and a quarter as often while nothing happens. With notification
	// the log is looked at every 16 Polls, in case one got lost, and every 256 where the
	// system says so itself, on a local file system of Linux. Zero means 250 ms;
	// a negative value means -Poll, and that no notification is asked for.
	Poll time.Duration
}

// An Update is one step of a follower: an event, or the mark that says that all
// history was delivered.
type Update struct {
	Event    Event
	CaughtUp bool   // this is the mark; there is no event in it
	Next     Cursor // where to go on: after the event
}

// Follow yields history from where the options say, then exactly one update with
// CaughtUp set, then each event as it is committed: none is missing and none
// comes twice, across rotation and sealing. History is what was committed when the
// iteration began. Follow holds nothing that a writer waits for, and works on a
// session that has no log yet.
//
// It ends with ctx's error, with [ErrClosed] when the session directory is
// removed, with one of the three cursor errors, an error of the system, or when
// the consumer stops. A [*LineError] stands for one unreadable line and does not
// end it. Everything that a follower uses is given back when the iteration ends.
func (l *Log) Follow(ctx context.Context, o FollowOptions) iter.Seq2[Update, error] {
	c, err := l.followFrom(ctx, o)
	return func(yield func(Update, error) bool) {
		err := err // an iterator may be used again
		if err == nil {
			f := follower{log: l, ctx: ctx, yield: yield}
			err = f.run(c, o.Poll)
		}
		if !errors.Is(err, errStopped) {
			yield(Update{}, err)
		}
	}
}

// followFrom returns the cursor to start after. It is looked up when Follow is
// called, so that TailOnly means what it says.
func (l *Log) followFrom(ctx context.Context, o FollowOptions) (Cursor, error) {
	switch o.Mode {
	case FromStart:
		return l.cursor(segment.Epoch{}, 0), nil
	case After:
		return o.After, nil
	case TailOnly:
		return l.End(ctx)
	}
	return Cursor{}, fmt.Errorf("session %s: no such mode of following: %d", l.session, o.Mode)
}

// errStopped ends a follower whose consumer stopped.
var errStopped = errors.New("consumer stopped")

// A follower is one running iteration of Follow.
type follower struct {
	log    *Log
	ctx    context.Context
	yield  func(Update, error) bool
	reader *segment.Reader
	end    uint64 // the mark comes before the event with this sequence
	marked bool
}

// run looks for a change only after it asked to be told of changes, so that none
// falls between.
func (f *follower) run(c Cursor, poll time.Duration) error {
	w := watch.New(f.log.dir, filepath.Join(f.log.dir, segmentsDir), poll)
	defer w.Close()
	if err := f.open(c); err != nil {
		return err
	}
	defer f.reader.Close()
	for {
		before := f.reader.Seq()
		if w.Stirred() {
			f.reader.Peek()
		} else {
			f.reader.Stay(w.Written())
		}
		if err := f.catchUp(); err != nil {
			return err
		}
		if f.reader.Seq() > before {
			w.News()
		}
		if err := w.Wait(f.ctx); err != nil {
			return f.log.wrap(err)
		}
	}
}

func (f *follower) open(c Cursor) error {
	v, err := f.log.segments.View(f.ctx)
	if err == nil {
		err = c.Fits(f.log.session, v.Epoch(), v.End())
	}
	if err == nil {
		f.end = v.End()
		f.reader, err = f.log.segments.Reader(f.ctx, c.seq)
	}
	return f.log.wrap(err)
}

// catchUp yields what there is up to the end of the log, and the mark where
// history ends.
func (f *follower) catchUp() error {
	for {
		if f.reader.Seq() >= f.end {
			if err := f.mark(); err != nil {
				return err
			}
		}
		e, err := f.log.next(f.ctx, f.reader)
		if errors.Is(err, io.EOF) {
			return f.mark()
		}
		if ends(err) {
			return err
		}
		if err := f.yieldAt(Update{Event: e}, err); err != nil {
			return err
		}
	}
}

// mark yields the one mark, if it is still due.
func (f *follower) mark() error {
	if f.marked {
		return nil
	}
	f.marked = true
	return f.yieldAt(Update{CaughtUp: true}, nil)
}

// yieldAt yields u with the place of the reader behind it.
func (f *follower) yieldAt(u Update, bad error) error {
	u.Next = f.log.cursor(f.reader.Epoch(), f.reader.Seq())
	if !f.yield(u, bad) {
		return errStopped
	}
	return nil
}
