package fleet

import (
	"errors"
	"io/fs"
	"math"
	"os"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/segment"
	"github.com/docket-go/docket/timeline/session"
)

// A stretch is how far a session is read before others are.
type stretch struct {
	until  uint64 // up to the event with this sequence
	events int    // and up to this many
}

// turn is the stretch of a session that has news.
var turn = stretch{until: math.MaxUint64, events: 256}

// history is the stretch of what a session held at the start.
func history(end uint64) stretch { return stretch{until: end, events: math.MaxInt} }

// errLeft ends the reading of a session that is gone, or is another one now.
var errLeft = errors.New("session left")

// read reads a stretch of a member's news. It returns only errors that end the
// iteration.
func (f *follower) read(m *member, s stretch) error {
	if m.lost {
		f.watch(m)
	}
	if m.cut {
		return f.keepCut(m)
	}
	more, err := f.readLog(m, s)
	switch {
	case err == nil:
		m.fault = ""
		if more {
			f.enqueue(m)
		}
		return nil
	case errors.Is(err, errStopped):
		return err
	case f.ctx.Err() != nil:
		return f.ctx.Err()
	case errors.Is(err, errLeft):
		return f.leave(m)
	}
	if errors.Is(err, timeline.ErrFutureCursor) {
		m.cut = true
	}
	return f.tell(m, err)
}

// tell tells what is wrong with a session, once for each reason.
func (f *follower) tell(m *member, err error) error {
	if m.fault == err.Error() {
		return nil
	}
	m.fault = err.Error()
	return f.say(Update{Session: m.id}, &SessionError{m.id, err})
}

// keepCut lets a member with a log that was cut back leave once it is closed.
func (f *follower) keepCut(m *member) error {
	g, err := f.inspect(f.ctx, m.id)
	if isGone(err) || err == nil && g.epoch != m.epoch {
		return f.leave(m)
	}
	return f.ctx.Err()
}

// readLog is read of a log that is there.
func (f *follower) readLog(m *member, far stretch) (more bool, err error) {
	dir := f.dirOf(m.id)
	born, changed, err := birthOf(dir)
	if err == nil {
		more, err = f.readLife(m, born, changed, far)
	}
	if err == nil || errors.Is(err, errStopped) || errors.Is(err, errLeft) || f.ctx.Err() != nil {
		return more, err
	}
	now, _, lost := birthOf(dir)
	if errors.Is(lost, fs.ErrNotExist) || lost == nil && now != born || errors.Is(err, timeline.ErrForeignCursor) {
		return false, errLeft
	}
	return false, err
}

// readLife is readLog in one life of the session. Its errors mean nothing if that has
// ended meanwhile.
func (f *follower) readLife(m *member, born birth, changed int64, far stretch) (more bool, err error) {
	seen, err := sightOf(f.dirOf(m.id), m.seen.Segment)
	if err != nil {
		return false, err
	}
	if seen.Segment == 0 {
		seen.home = changed
	}
	s, err := f.store.Open(m.id)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, s.Release()) }()
	if !m.joined || m.born == (birth{}) {
		m.born = born
	}
	if m.epoch == (segment.Epoch{}) {
		if err := f.begin(m, s.Timeline()); err != nil {
			return false, err
		}
	}
	if !m.joined {
		if err := f.join(m); err != nil {
			return false, err
		}
	}
	if m.epoch != (segment.Epoch{}) {
		more, err = f.readEvents(m, s.Timeline(), born, far)
	}
	if err == nil && !more {
		m.seen = seen
	}
	return more, err
}

// begin finds the epoch of a log that was empty until now. That the directory is
// still the one that was seen then shows that the epoch is no later life's.
func (f *follower) begin(m *member, l *timeline.Log) error {
	start, err := l.Start(f.ctx)
	if err != nil {
		return err
	}
	born, _, err := birthOf(f.dirOf(m.id))
	if err != nil {
		return err
	}
	if born != m.born {
		return errLeft
	}
	epoch := start.Epoch()
	if m.was.id != "" && !m.was.isIn(epoch) {
		return timeline.ErrForeignCursor
	}
	m.epoch, m.was = epoch, place{}
	return nil
}

// readEvents yields events. What the cursor is compared with, and what is then read,
// are two looks at the log: that the directory is the same before and after both shows
// that they were of one life.
func (f *follower) readEvents(m *member, l *timeline.Log, born birth, s stretch) (more bool, err error) {
	sure, n := false, 0
	for e, err := range l.From(f.ctx, m.cursor()) {
		var bad *timeline.LineError
		if err != nil && !errors.As(err, &bad) {
			return false, err
		}
		if !sure {
			now, _, err := birthOf(f.dirOf(m.id))
			if err != nil {
				return false, err
			}
			if now != born {
				return false, errLeft
			}
			sure = true
		}
		if bad == nil && (e.Seq >= s.until || n == s.events) {
			return true, nil
		}
		n++
		if err := f.deliver(m, e, bad); err != nil {
			return false, err
		}
	}
	if n == 0 {
		return false, f.readEnd(m, l)
	}
	return false, nil
}

// readEnd tells the unreadable lines behind the last event, which nobody finds who
// reads from there on.
func (f *follower) readEnd(m *member, l *timeline.Log) error {
	if look, ok := f.looker.Look(f.dirOf(m.id)); ok && look.Epoch == m.epoch {
		return nil // the last line is a good one
	}
	page, err := l.Tail(f.ctx, 1)
	if err != nil || page.Next.Epoch() != m.epoch || page.Next.Seq() != m.seq {
		return err // there is more to read now
	}
	for _, bad := range page.Bad {
		if err := f.deliver(m, timeline.Event{}, bad); err != nil {
			return err
		}
	}
	return nil
}

// deliver yields an event, or what is wrong with a line.
func (f *follower) deliver(m *member, e timeline.Event, bad *timeline.LineError) error {
	switch {
	case bad == nil:
		m.seq = e.Seq + 1
		return f.say(Update{Session: m.id, Event: e, At: m.cursor()}, nil)
	case m.told(bad):
		return nil
	}
	return f.say(Update{Session: m.id}, &SessionError{m.id, bad})
}

func isGone(err error) bool {
	return errors.Is(err, session.ErrNotFound) || errors.Is(err, timeline.ErrClosed) ||
		errors.Is(err, lock.ErrClosed) || errors.Is(err, fs.ErrNotExist)
}

// join lets a session join.
func (f *follower) join(m *member) error {
	m.joined = true
	return f.say(Update{Session: m.id, Joined: true}, nil)
}

// leave lets a session leave, and a later life of it join.
func (f *follower) leave(m *member) error {
	f.dismiss(m)
	if m.joined {
		f.next = f.next.put(m.slot, place{})
		if err := f.emit(Update{Session: m.id, Left: true}, nil); err != nil {
			return err
		}
	}
	f.arrive(m.id)
	return nil
}

// arrive notes a session that may have appeared.
func (f *follower) arrive(id string) {
	if m := f.index[id]; m != nil {
		m.lost = true // it may be another directory than the one that is watched
		f.enqueue(m)
		return
	}
	if info, err := os.Lstat(f.dirOf(id)); err == nil && info.IsDir() {
		m := f.enlist(id)
		m.lost = true
		f.enqueue(m)
	}
}

// say yields u with the place behind it.
func (f *follower) say(u Update, err error) error {
	if m := f.index[u.Session]; m != nil && m.joined {
		f.next = f.next.put(m.slot, m.place())
	}
	return f.emit(u, err)
}

func (f *follower) emit(u Update, err error) error {
	u.Next = f.next
	if !f.yield(u, err) {
		return errStopped
	}
	return nil
}
