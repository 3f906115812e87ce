package watch_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/docket-go/docket/timeline/watch"
)

// newWaiter makes a waiter for a log that has segments; only notification wakes it.
func newWaiter(t *testing.T) (w *watch.Waiter, segments string) {
	t.Helper()
	dir := newDir(t)
	segments = filepath.Join(dir, "timeline")
	if err := os.Mkdir(segments, 0o700); err != nil {
		t.Fatal(err)
	}
	touch(t, segments)
	w = watch.New(dir, segments, time.Hour)
	t.Cleanup(w.Close)
	return w, segments
}

// touch writes to the file 1 of a directory.
func touch(t *testing.T, dir string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, "1"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("x"); err != nil {
		t.Error(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// awaken waits, a minute at most in a whole test.
func awaken(t *testing.T, ctx context.Context, w *watch.Waiter) {
	t.Helper()
	if err := w.Wait(ctx); err != nil {
		t.Fatal(err)
	}
}

func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// A waiter that is alone takes what the system tells in its own goroutine, and wakes
// for all that there is to wake for. As soon as there are two, one is made for both.
func TestAWaiterAloneNeedsNoGoroutine(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is a goroutine here")
	}
	poll(t, "the goroutine of an earlier test ends", func() bool { return !attended() })
	ctx, before := soon(t), runtime.NumGoroutine()
	w, dir := newWaiter(t)
	for range 3 {
		touch(t, dir)
		awaken(t, ctx, w)
	}
	if got := runtime.NumGoroutine(); got > before || attended() {
		t.Errorf("alone: got %d goroutines more, one of them for the events: %v", got-before, attended())
	}
	other, _ := newWaiter(t)
	poll(t, "both are served", attended)
	for range 3 {
		touch(t, dir)
		awaken(t, ctx, w)
	}
	w.Close()
	other.Close()
	poll(t, "the goroutine ends", func() bool { return !attended() })
}

// attended reports that there is a goroutine that takes the events.
func attended() bool {
	stacks := make([]byte, 1<<20)
	return bytes.Contains(stacks[:runtime.Stack(stacks, true)], []byte("watch.(*inotify).attend("))
}

func wantCanceled(t *testing.T, ended <-chan error) {
	t.Helper()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v, want %v", err, context.Canceled)
		}
	case <-time.After(time.Minute):
		t.Fatal("the end of the context ended no Wait")
	}
}

// The end of a context ends a Wait, whoever takes the events, at whatever moment it
// comes. For a later Wait with another context it is a look too many at most.
func TestContextsEndWaits(t *testing.T) {
	w, dir := newWaiter(t)
	wait := func(ctx context.Context) error {
		for {
			if err := w.Wait(ctx); err != nil {
				return err
			}
		}
	}
	for i := range 200 {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- wait(ctx) }()
		for range i % 4 {
			runtime.Gosched()
		}
		cancel()
		wantCanceled(t, ended)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want %v", err, context.DeadlineExceeded)
	}
	touch(t, dir)
	awaken(t, soon(t), w)
}

// A lateContext ends between the look of Wait at it and that of who takes events; what it
// interrupts by that comes too early.
type lateContext struct {
	context.Context
	looks int
}

func (c *lateContext) Err() error {
	if c.looks++; c.looks == 1 {
		return nil
	}
	return context.Canceled
}

func TestContextsEndWaitsThatBegin(t *testing.T) {
	w, _ := newWaiter(t)
	for range 2 {
		ended := make(chan error, 1)
		go func() { ended <- w.Wait(&lateContext{Context: t.Context()}) }()
		wantCanceled(t, ended)
	}
}

// Whoever takes the events tells the others, and somebody takes them when it goes.
func TestWaitersTakeTurns(t *testing.T) {
	const waiters, rounds = 4, 200
	ctx := soon(t)
	var running sync.WaitGroup
	for range waiters {
		dir := newDir(t)
		segments := filepath.Join(dir, "timeline")
		if err := os.Mkdir(segments, 0o700); err != nil {
			t.Fatal(err)
		}
		running.Go(func() {
			for i := range rounds {
				w := watch.New(dir, segments, time.Hour)
				for j := range 1 + i%3 {
					name := filepath.Join(segments, strconv.Itoa(i)+"."+strconv.Itoa(j))
					if err := os.WriteFile(name, nil, 0o600); err != nil {
						t.Error(err)
					}
					if err := w.Wait(ctx); err != nil {
						t.Errorf("round %d: %v", i, err)
						i = rounds
						break
					}
				}
				w.Close()
			}
		})
	}
	running.Wait()
}

// A waiter tells a file that was written to from one that came or went.
func TestWritten(t *testing.T) {
	watch.StopUnused()
	ctx := soon(t)
	w, dir := newWaiter(t)
	path := filepath.Join(dir, "1")
	touch(t, dir)
	awaken(t, ctx, w) // the first look is at everything
	for _, tt := range []struct {
		name    string
		do      func() error
		written bool
	}{
		{"written to", func() error { touch(t, dir); return nil }, runtime.GOOS == "linux"},
		{"cut", func() error { return os.Truncate(path, 1) }, runtime.GOOS == "linux"},
		{"made", func() error { return os.WriteFile(path+".new", nil, 0o600) }, false},
		{"renamed over it", func() error { return os.Rename(path+".new", path) }, false},
		{"linked", func() error { return os.Link(path, path+".link") }, false},
		{"removed", func() error { return os.Remove(path + ".link") }, false},
		{"written to again", func() error { touch(t, dir); return nil }, runtime.GOOS == "linux"},
	} {
		if err := tt.do(); err != nil {
			t.Fatal(err)
		}
		if awaken(t, ctx, w); w.Written() != tt.written {
			t.Errorf("%s: got %v, want %v", tt.name, w.Written(), tt.written)
		}
	}
	watch.Overflow()
	if awaken(t, ctx, w); w.Written() {
		t.Error("something was lost: got that a file was written to")
	}
	touch(t, dir)
	if err := os.WriteFile(path+".new", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if awaken(t, ctx, w); w.Written() {
		t.Error("written to, and one more made: got only the first")
	}
}

// Who had to wait is awake before it is known what happened, and knows it the next time.
func TestStirred(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("another goroutine takes what happens here")
	}
	watch.StopUnused()
	ctx := soon(t)
	w, dir := newWaiter(t)
	touch(t, dir)
	awaken(t, ctx, w)
	for _, written := range []bool{true, false} {
		happens := func() { touch(t, dir) }
		if !written {
			happens = func() {
				if err := os.WriteFile(filepath.Join(dir, "new"), nil, 0o600); err != nil {
					t.Error(err)
				}
				if err := os.Remove(filepath.Join(dir, "new")); err != nil {
					t.Error(err)
				}
			}
		}
		poll(t, "it has to wait", func() bool {
			ended := make(chan error, 1)
			go func() { ended <- w.Wait(ctx) }()
			runtime.Gosched()
			happens()
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			if !w.Stirred() {
				return false
			}
			if w.Written() {
				t.Error("it is known already what happened")
			}
			if awaken(t, ctx, w); w.Stirred() || w.Written() != written {
				t.Errorf("got stirred %v, written %v, want written %v", w.Stirred(), w.Written(), written)
			}
			return true
		})
	}
}

// However much is written, now and then everything is to be looked at.
func TestWrittenIsNotForEver(t *testing.T) {
	ctx, dir := soon(t), newDir(t)
	w := watch.New(dir, dir, time.Millisecond)
	defer w.Close()
	for range 3 {
		poll(t, "a look at everything", func() bool {
			touch(t, dir)
			awaken(t, ctx, w)
			return !w.Written()
		})
	}
}

// Whoever comes right behind the last one shares its notifier, because Linux takes long
// to close it; it is closed when nobody comes.
func TestANotifierIsKeptForTheNext(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("it has a goroutine here, and is closed with its last listener")
	}
	first, _ := newWaiter(t)
	defer watch.RefuseNotifiers(math.MaxInt)()
	first.Close()
	w, dir := newWaiter(t)
	touch(t, dir)
	awaken(t, soon(t), w)
	w.Close()
	if dirs, _ := watch.Watched(); dirs != 0 {
		t.Errorf("got %d watches of nobody", dirs)
	}
	poll(t, "it is closed", func() bool {
		_, running := watch.Watched()
		return !running
	})
}
