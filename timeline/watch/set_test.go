package watch_test

import (
	"context"
	"iter"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/fleet"
	"github.com/docket-go/docket/timeline/session"
	"github.com/docket-go/docket/timeline/watch"
)

// newStore makes a store with n sessions.
func newStore(t *testing.T, n int) (*session.Store, []*session.Session) {
	t.Helper()
	store, err := session.OpenStore(t.TempDir(), session.Options{Timeline: timeline.Options{Buffered: true, SegmentBytes: 600}})
	if err != nil {
		t.Fatal(err)
	}
	var sessions []*session.Session
	for i := range n {
		sessions = append(sessions, join(t, store, "s"+strconv.Itoa(i)))
	}
	return store, sessions
}

func join(t *testing.T, store *session.Store, id string) *session.Session {
	t.Helper()
	s, err := store.Create(t.Context(), session.New{ID: id})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Release() })
	say(t, s.Timeline())
	return s
}

// fleetOf follows a store from its end, and returns the next session to have news.
func fleetOf(t *testing.T, store *session.Store, poll time.Duration) (next func() string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	raw, stop := iter.Pull2(fleet.Follow(ctx, store, fleet.Options{Mode: fleet.TailOnly, Poll: poll}))
	t.Cleanup(func() { stop(); cancel() })
	next = func() string {
		t.Helper()
		u, err, ok := raw()
		if err != nil || !ok {
			t.Fatalf("got %v, %v, want an update", err, ok)
		}
		if u.Left {
			return u.Session + "-"
		}
		if u.Joined {
			return u.Session + "+"
		}
		return u.Session
	}
	if got := next(); got != "" {
		t.Fatalf("got news of %s, want the mark", got)
	}
	return next
}

// exercise lets sessions have news, come and go, which the follower must see.
func exercise(t *testing.T, store *session.Store, sessions []*session.Session, next func() string) {
	t.Helper()
	want := func(texts ...string) {
		t.Helper()
		for _, text := range texts {
			if got := next(); got != text {
				t.Fatalf("got news of %s, want %s", got, text)
			}
		}
	}
	for range 5 { // over several segments
		for _, s := range sessions {
			say(t, s.Timeline())
			want(s.ID())
		}
	}
	first := sessions[0]
	if err := first.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	want(first.ID() + "-")
	join(t, store, first.ID())
	want(first.ID()+"+", first.ID())
	join(t, store, "new")
	want("new+", "new")
}

// Where the system has no notification to give, a fleet is looked at.
func TestFleetWithoutNotification(t *testing.T) {
	defer watch.RefuseNotifiers(math.MaxInt)()
	store, sessions := newStore(t, 3)
	exercise(t, store, sessions, fleetOf(t, store, time.Millisecond))
}

// Where a watcher hears of nothing that happens, the rare look at all finds it.
func TestFleetWithLostNotifications(t *testing.T) {
	store, sessions := newStore(t, 3)
	next := fleetOf(t, store, time.Millisecond)
	watch.Deafen()
	exercise(t, store, sessions, next)
}

// An overflow is a reason to look at all at once.
func TestFleetAfterAnOverflow(t *testing.T) {
	store, sessions := newStore(t, 3)
	next := fleetOf(t, store, time.Hour)
	if n := watch.Deafen(); n != 1+len(sessions) {
		t.Errorf("got %d watches, want one for each session and one for all", n)
	}
	say(t, sessions[2].Timeline())
	join(t, store, "new")
	if err := sessions[1].Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	watch.Overflow()
	var got []string
	for range 4 {
		got = append(got, next())
	}
	slices.Sort(got)
	if want := []string{"new", "new+", "s1-", "s2"}; !slices.Equal(got, want) {
		t.Errorf("got news of %v, want of %v", got, want)
	}
}

// Many fleets and followers share one watch for a directory, and nothing of it stays.
func TestSetsShareOneWatcher(t *testing.T) {
	store, sessions := newStore(t, 3)
	t.Run("fleets", func(t *testing.T) {
		fleets := []func() string{fleetOf(t, store, time.Hour), fleetOf(t, store, time.Hour)}
		if dirs, running := watch.Watched(); dirs != 1+len(sessions) || !running {
			t.Errorf("got %d watches, running %v, want %d", dirs, running, 1+len(sessions))
		}
		say(t, sessions[1].Timeline())
		for _, next := range fleets {
			if got := next(); got != "s1" {
				t.Errorf("got news of %s, want s1", got)
			}
		}
	})
	if dirs, running := watch.Watched(); dirs != 0 || running {
		t.Errorf("after the end: got %d watches, running %v", dirs, running)
	}
}

// A key stands for the directory that bears the path when it is added, not for one
// that did before.
func TestSetWatchesWhatIsThereNow(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "d")
	renew := func() {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	renew()
	s := watch.NewSet(time.Hour)
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if at := s.Add(7, filepath.Join(root, "none"), dir); at != 1 {
		t.Fatalf("got the place %d, want 1", at)
	}
	if err := os.Rename(dir, filepath.Join(root, "old")); err != nil {
		t.Fatal(err)
	}
	renew()
	s.Add(7, dir)
	for i := range 3 {
		if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		h, err := s.Wait(ctx)
		if err != nil || !slices.Equal(h.Keys, []int{7}) {
			t.Fatalf("got %+v, %v, want the key", h, err)
		}
	}
	s.Remove(7)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if h, any := s.Take(); any {
		t.Errorf("got %+v of a key that was removed", h)
	}
}

// A directory that moved is lost under its old path, and can be watched under the new
// one at once.
func TestSetWatchesADirectoryThatMoved(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("directories are polled here")
	}
	root := t.TempDir()
	before, after := filepath.Join(root, "before"), filepath.Join(root, "after")
	if err := os.Mkdir(before, 0o700); err != nil {
		t.Fatal(err)
	}
	s := watch.NewSet(time.Hour)
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s.Add(1, before)
	if err := os.Rename(before, after); err != nil {
		t.Fatal(err)
	}
	s.Add(2, after)
	for !s.Lost(1) {
		if _, err := s.Wait(ctx); err != nil {
			t.Fatal(err)
		}
	}
	s.Remove(1)
	for {
		if s.Lost(2) { // it was told of the move as well
			s.Add(2, after)
		}
		if err := os.WriteFile(filepath.Join(after, "x"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		h, err := s.Wait(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(h.Keys, 2) && !s.Lost(2) {
			return
		}
	}
}
