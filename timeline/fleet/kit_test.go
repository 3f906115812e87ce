package fleet_test

import (
	"context"
	"errors"
	"iter"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/fleet"
	"github.com/docket-go/docket/timeline/session"
)

// A tb is a *testing.T, *testing.B or *rapid.T.
type tb interface {
	Helper()
	Cleanup(func())
	Fatal(...any)
	Fatalf(string, ...any)
	Errorf(string, ...any)
}

// newStore makes an empty store whose logs have small segments and are not synced.
func newStore(t testing.TB) *session.Store {
	t.Helper()
	return storeAt(t, filepath.Join(t.TempDir(), "store"))
}

func storeAt(t tb, dir string) *session.Store {
	t.Helper()
	s, err := session.OpenStore(dir, session.Options{Timeline: timeline.Options{Buffered: true, SegmentBytes: 700}})
	check(t, err)
	return s
}

func check(t tb, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func create(t tb, store *session.Store, id string) *session.Session {
	t.Helper()
	s, err := store.Create(context.Background(), session.New{ID: id})
	check(t, err)
	return s
}

// say appends events to a session.
func say(t tb, s *session.Session, texts ...string) {
	t.Helper()
	for _, text := range texts {
		_, err := s.Timeline().Append(context.Background(), timeline.Sent{MID: text, Text: text})
		check(t, err)
	}
}

// made makes a session with events.
func made(t tb, store *session.Store, id string, texts ...string) *session.Session {
	t.Helper()
	s := create(t, store, id)
	say(t, s, texts...)
	t.Cleanup(func() { s.Release() })
	return s
}

func closeSession(t tb, s *session.Session) {
	t.Helper()
	check(t, s.Close(context.Background()))
	check(t, s.Release())
}

// A watcher takes the updates of a follower one by one.
type watcher struct {
	t    tb
	next func() (fleet.Update, error, bool)
	stop func()
	last fleet.Cursor
}

// follow starts a follower. With an hour between two looks, only notification wakes it.
func follow(t tb, store *session.Store, o fleet.Options) *watcher {
	t.Helper()
	if o.Poll == 0 {
		o.Poll = time.Hour
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	next, stop := iter.Pull2(fleet.Follow(ctx, store, o))
	w := &watcher{t: t, next: next, last: o.After, stop: func() { stop(); cancel() }}
	t.Cleanup(w.stop)
	return w
}

// take returns the next update in words.
func (w *watcher) take() string {
	w.t.Helper()
	u, err, ok := w.next()
	if !ok {
		w.t.Fatal("the iteration ended")
	}
	var own *fleet.SessionError
	if err != nil && !errors.As(err, &own) {
		w.t.Fatal(err)
	}
	w.last = u.Next
	if err != nil {
		if own.Session != u.Session {
			w.t.Errorf("got an error of %s in an update of %s", own.Session, u.Session)
		}
		return u.Session + "!"
	}
	return words(u)
}

func words(u fleet.Update) string {
	switch {
	case u.CaughtUp:
		return "caught up"
	case u.Joined:
		return u.Session + "+"
	case u.Left:
		return u.Session + "-"
	}
	return u.Session + " " + strconv.FormatUint(u.Event.Seq, 10) + " " + u.Event.Text
}

// want takes as many updates as are given, which must be these.
func (w *watcher) want(want ...string) {
	w.t.Helper()
	for _, s := range want {
		if got := w.take(); got != s {
			w.t.Fatalf("got %q, want %q", got, s)
		}
	}
}

// both runs a test with notification and without.
func both(t *testing.T, f func(t *testing.T, poll time.Duration)) {
	for _, tt := range []struct {
		name string
		poll time.Duration
	}{{"notified", time.Hour}, {"polling", -time.Millisecond}} {
		t.Run(tt.name, func(t *testing.T) { f(t, tt.poll) })
	}
}
