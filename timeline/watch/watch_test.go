package watch_test

import (
	"context"
	"errors"
	"iter"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/watch"
)

// newDir makes an empty session directory.
func newDir(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "s1")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func open(t *testing.T, dir string, segmentBytes int64) *timeline.Log {
	t.Helper()
	l, err := timeline.Open(dir, timeline.Options{Buffered: true, SegmentBytes: segmentBytes})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// say appends an event.
func say(t *testing.T, l *timeline.Log) {
	t.Helper()
	if _, err := l.Append(t.Context(), timeline.Status{Status: "active"}); err != nil {
		t.Fatal(err)
	}
}

// finish follows a log to the end and returns the error that ended it.
func finish(l *timeline.Log, ctx context.Context, o timeline.FollowOptions, marked func()) (last error) {
	for u, err := range l.Follow(ctx, o) {
		if u.CaughtUp {
			marked()
		}
		last = err
	}
	return last
}

// poll asks until ok is true, and fails after a minute.
func poll(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	late := time.After(time.Minute)
	for !ok() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// Followers of one session share a watch, those of all sessions a watcher, and
// nothing of it stays when they end.
func TestFollowersShareOneWatcher(t *testing.T) {
	before := runtime.NumGoroutine()
	logs := []*timeline.Log{open(t, newDir(t), 0), open(t, newDir(t), 0)}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	var marks sync.WaitGroup
	for _, l := range logs {
		say(t, l)
		for range 5 {
			marks.Add(1)
			running.Go(func() { finish(l, ctx, timeline.FollowOptions{}, marks.Done) })
		}
	}
	marks.Wait()
	if dirs, running := watch.Watched(); dirs != len(logs) || !running {
		t.Errorf("got %d watches, running %v, want %d", dirs, running, len(logs))
	}
	cancel()
	running.Wait()
	if dirs, running := watch.Watched(); dirs != 0 || running {
		t.Errorf("after the end: got %d watches, running %v", dirs, running)
	}
	poll(t, "goroutines end", func() bool { return runtime.NumGoroutine() <= before })
}

// A waiter lets its follower look again each time that it turned to another
// directory, because it cannot know what happened there before.
func TestWaiterTurnsToTheRightDirectory(t *testing.T) {
	session := newDir(t)
	segments := filepath.Join(session, "timeline")
	w := watch.New(session, segments, time.Hour)
	defer w.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	look := func(what string) {
		t.Helper()
		if err := w.Wait(ctx); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	for range 3 {
		if err := os.Mkdir(segments, 0o700); err != nil {
			t.Fatal(err)
		}
		look("the directory of the segments was made")
		if err := os.WriteFile(filepath.Join(segments, "x"), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		look("something was written in it")
		if err := os.RemoveAll(segments); err != nil {
			t.Fatal(err)
		}
		poll(t, "the session directory is watched", func() bool {
			look("the directory was removed")
			return watch.Watching(session)
		})
	}
}

// Where the system has no notification to give, followers look by themselves.
func TestFollowWithoutNotification(t *testing.T) {
	defer watch.RefuseNotifiers(math.MaxInt)()
	l := open(t, newDir(t), 300)
	next, stop := iter.Pull2(l.Follow(t.Context(), timeline.FollowOptions{Poll: time.Millisecond}))
	defer stop()
	if u, err, _ := next(); err != nil || !u.CaughtUp {
		t.Fatalf("got %+v, %v, want the mark", u, err)
	}
	for i := range 60 {
		say(t, l)
		if u, err, _ := next(); err != nil || u.Event.Seq != uint64(i) {
			t.Fatalf("got %+v, %v, want event %d", u, err, i)
		}
	}
	if dirs, running := watch.Watched(); dirs != 0 || running {
		t.Errorf("got %d watches, running %v, want none", dirs, running)
	}
}

// Notification that was not to be had at first is asked for again.
func TestFollowAsksForNotificationAgain(t *testing.T) {
	defer watch.RefuseNotifiers(2)()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	l := open(t, newDir(t), 0)
	go func() { ended <- finish(l, ctx, timeline.FollowOptions{Poll: time.Millisecond}, func() {}) }()
	poll(t, "a watch", func() bool { dirs, _ := watch.Watched(); return dirs == 1 })
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}
