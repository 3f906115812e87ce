package session

import (
	"errors"
	"fmt"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/segment"
)

// A pen is the handle on the log that declarations go through. It is the session's
// own log until one of that one's data syncs fails: a log refuses to write from then
// on, and the pen takes one that is opened anew. [Session.Timeline] stays the old
// one, so that nothing that was written through it is ever acknowledged by a sync of
// another handle, which knows nothing of it.
//
// It is used under the record lock; a written is committed without.
type pen struct {
	open func() (*timeline.Log, error)
	log  *timeline.Log
	own  bool // log is not the session's
}

// A written is what was written, and the handle that must sync it.
type written struct {
	timeline.Written
	log *timeline.Log
}

// commit returns nil once the event is on stable storage. An error is
// [segment.ErrFaulted]: the event is in doubt.
func (w written) commit() error {
	if err := w.log.Commit(w.Written); err != nil {
		return fmt.Errorf("%w: the event is written, and a power cut may still take it", err)
	}
	return nil
}

func (p *pen) write(held *lock.Record, entries ...timeline.Entry) (w written, err error) {
	err = p.use(func(log *timeline.Log) error {
		at, err := log.Write(held, entries...)
		w = written{at, log}
		return err
	})
	return w, err
}

func (p *pen) nextSeq(held *lock.Record) (seq uint64, err error) {
	err = p.use(func(log *timeline.Log) error {
		next, err := log.NextSeq(held)
		seq = next
		return err
	})
	return seq, err
}

// use runs f, which leaves nothing behind when it fails, on the log, and once more
// on one that is opened anew if the log refuses to go on.
func (p *pen) use(f func(log *timeline.Log) error) error {
	err := f(p.log)
	if !errors.Is(err, segment.ErrFaulted) {
		return err
	}
	next, err := p.open()
	if err != nil {
		return err
	}
	if err := p.release(); err != nil {
		return errors.Join(err, next.Close())
	}
	p.log, p.own = next, true
	return f(next)
}

// release closes the log if it is not the session's.
func (p *pen) release() error {
	if !p.own {
		return nil
	}
	return p.log.Close()
}
