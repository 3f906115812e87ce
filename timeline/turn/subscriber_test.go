package turn_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/turn"
	"pgregory.net/rapid"
)

// A subscriber of the model follows the log in its own time: it takes an update when
// it is told to, and otherwise stands still.
type subscriber struct {
	beside  *turn.Writer // whose log it follows; nil: the files
	from    int          // the event it began with
	history int          // events that were there when it began to iterate
	words   []string     // what it saw
	marks   []int        // after how many events it saw the mark
	ended   bool         // its writer is faulted or closed

	next   func() (turn.Update, error, bool)
	stop   func()
	cancel context.CancelFunc
}

// subscribe adds a subscriber, of the writer's log or of the files, to follow from a
// cursor or only what comes.
func (m *model) subscribe(rt *rapid.T) {
	if len(m.subs) >= 4 {
		old := m.subs[0] // it dies where it is
		m.subs = m.subs[1:]
		old.stop()
		old.cancel()
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	rt.Cleanup(cancel)
	s := &subscriber{cancel: cancel}
	l := m.w.Log()
	if rapid.Bool().Draw(rt, "of the files") {
		var err error
		if l, err = turn.Read(m.dir, turn.ReadOptions{Poll: -time.Millisecond}); err != nil {
			rt.Fatal(err)
		}
	} else {
		s.beside, s.ended = m.w, m.faulted
	}
	s.history = len(m.words)
	var updates iter.Seq2[turn.Update, error]
	if rapid.Bool().Draw(rt, "tail") {
		s.from = len(m.words)
		updates = l.Tail(ctx)
	} else {
		c, from := m.anyCursor(rt, l)
		s.from = from
		updates = l.Follow(ctx, c)
	}
	s.next, s.stop = iter.Pull2(updates)
	rt.Cleanup(s.stop)
	s.take(rt, m.words) // the mark or the first of history: now it is in the log
	m.subs = append(m.subs, s)
}

func (m *model) anyCursor(rt *rapid.T, l *turn.Log) (timeline.Cursor, int) {
	from := rapid.IntRange(0, len(m.words)).Draw(rt, "from")
	for c, seq := range m.cursors {
		if seq == from {
			return c, from
		}
	}
	c, err := l.Start(rt.Context())
	if err != nil {
		rt.Fatal(err)
	}
	return c, 0
}

// readSome lets a subscriber take some of what there is for it.
func (m *model) readSome(rt *rapid.T) {
	if len(m.subs) == 0 {
		rt.Skip("nobody reads")
	}
	s := rapid.SampledFrom(m.subs).Draw(rt, "subscriber")
	for range rapid.IntRange(1, 5).Draw(rt, "updates") {
		if s.take(rt, m.words); len(s.words) == len(m.words)-s.from && len(s.marks) == 1 {
			break
		}
	}
}

// take takes one update, if there is one to come. Behind the last event of a writer
// that is no more comes the end.
func (s *subscriber) take(rt *rapid.T, log []string) {
	there := len(s.words) < len(log)-s.from || len(s.marks) == 0
	if s.next == nil || !there {
		return
	}
	u, err, ok := s.next()
	switch {
	case s.ended && (errors.Is(err, turn.ErrFaulted) || errors.Is(err, turn.ErrWriterClosed)):
		s.next = nil
	case err != nil || !ok:
		rt.Fatalf("after %d events: got %v, %v", len(s.words), err, ok)
	case u.CaughtUp:
		s.marks = append(s.marks, s.from+len(s.words))
	default:
		s.words = append(s.words, brief([]turn.Event{u.Event})...)
	}
}

// check compares what the subscriber saw so far: no gap, no repeat, one mark, at the
// end of what was history.
func (s *subscriber) check(rt *rapid.T, log []string) {
	if want := log[s.from:min(len(log), s.from+len(s.words))]; !slices.Equal(s.words, want) {
		rt.Fatalf("a subscriber from %d saw\n%q, want\n%q", s.from, s.words, want)
	}
	if len(s.marks) > 1 || len(s.marks) == 1 && s.marks[0] != s.history || len(s.marks) == 0 && s.from+len(s.words) > s.history {
		rt.Fatalf("a subscriber from %d saw marks after %v, want one after %d", s.from, s.marks, s.history)
	}
}
