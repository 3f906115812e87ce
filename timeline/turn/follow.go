package turn

import (
	"context"
	"errors"
	"io"
	"iter"
	"path/filepath"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/watch"
)

// An Update is one step of a follower: an event, or the mark that says that all
// history was delivered.
type Update struct {
	Event    Event           // the zero Event with the mark
	CaughtUp bool            // this is the mark
	Next     timeline.Cursor // where to go on
}

// Follow yields the events from the cursor on, then exactly one update with
// CaughtUp set, then each event as it is committed: none is missing and none comes
// twice, across rotation and sealing. History is what was committed when the
// iteration began. It works on a session that has had no turn yet, and a follower
// that is slow, or never comes back, holds up nobody: it reads the files when it
// likes, and nothing is queued for it.
//
// It ends with the errors of [Log.History], and as [Writer.Log] says, or when the
// consumer stops.
func (l *Log) Follow(ctx context.Context, from timeline.Cursor) iter.Seq2[Update, error] {
	return l.updates(ctx, from, false, nil)
}

// Tail yields what is committed after the call of Tail and nothing of before; the
// mark comes first. Otherwise it is [Log.Follow].
func (l *Log) Tail(ctx context.Context) iter.Seq2[Update, error] {
	from, err := l.End(ctx)
	return l.updates(ctx, from, true, err)
}

func (l *Log) updates(ctx context.Context, from timeline.Cursor, tail bool, err error) iter.Seq2[Update, error] {
	return func(yield func(Update, error) bool) {
		err := err // an iterator may be used again
		if err == nil {
			f := follower{log: l, ctx: ctx, yield: yield, tail: tail}
			err = f.run(from)
		}
		if !errors.Is(err, errStopped) {
			yield(Update{}, err)
		}
	}
}

// errStopped ends a follower whose consumer stopped.
var errStopped = errors.New("consumer stopped")

// A follower is one running iteration of Follow.
type follower struct {
	log    *Log
	ctx    context.Context
	yield  func(Update, error) bool
	tail   bool // there is no history
	reader *reader
	files  *watch.Waiter // nil: the Writer tells
	marked bool
}

// run asks to be told of changes before it looks for one, so that none falls between.
func (f *follower) run(from timeline.Cursor) (err error) {
	if f.log.writer == nil {
		f.files = watch.New(f.log.dir, filepath.Join(f.log.dir, segmentsDir), f.log.poll)
		defer f.files.Close()
	}
	if f.reader, err = f.log.open(f.ctx, from); err != nil {
		return err
	}
	defer f.reader.close()
	if f.tail {
		f.reader.end = f.reader.seq
	}
	for {
		_, changed, down := f.log.horizon()
		before := f.reader.seq
		if f.files != nil && f.files.Stirred() {
			f.reader.lines.Peek()
		} else {
			f.reader.lines.Stay(false)
		}
		if err := f.catchUp(); err != nil {
			return err
		}
		if err := f.wait(changed, down, f.reader.seq > before); err != nil {
			return err
		}
	}
}

// wait returns when it is time to look again: once the Writer has committed more, or
// the files may have grown.
func (f *follower) wait(changed <-chan struct{}, down error, news bool) error {
	if f.files != nil && news {
		f.files.News()
	}
	switch {
	case f.files != nil:
		return f.log.wrap(f.files.Wait(f.ctx))
	case down != nil:
		return down
	}
	select {
	case <-f.ctx.Done():
		return f.log.wrap(f.ctx.Err())
	case <-changed:
		return nil
	}
}

// catchUp yields what there is, and the mark where history ends.
func (f *follower) catchUp() error {
	for {
		if f.reader.seq >= f.reader.end {
			if err := f.mark(); err != nil {
				return err
			}
		}
		e, err := f.reader.next(f.ctx)
		if err == io.EOF {
			return f.mark()
		}
		if err != nil {
			return err
		}
		if !f.yield(Update{Event: e, Next: e.Next}, nil) {
			return errStopped
		}
	}
}

// mark yields the one mark, if it is still due.
func (f *follower) mark() error {
	if f.marked {
		return nil
	}
	f.marked = true
	at := f.log.cursor(f.reader.lines.Epoch(), f.reader.seq)
	if !f.yield(Update{CaughtUp: true, Next: at}, nil) {
		return errStopped
	}
	return nil
}
