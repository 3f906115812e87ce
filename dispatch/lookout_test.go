package dispatch_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/dispatch"
)

// notifiedOnly are options with which nothing but notification can be in time.
var notifiedOnly = dispatch.SweepOptions{
	Interval: 10 * time.Hour, Poll: 10 * time.Hour,
	MinBackoff: time.Millisecond, MaxBackoff: 10 * time.Hour,
}

// watching runs a sweeper and returns once the first round is over and all that it
// found is watched.
func watching(t *testing.T, w *world, o dispatch.SweepOptions) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("sessions are polled here")
	}
	s := dispatch.NewSweeper(w.Dispatcher, o)
	watched := make(chan struct{})
	first := sync.OnceFunc(func() { close(watched) })
	s.Watching(func(string) error { return nil }, func(dir string) {
		if filepath.Base(dir) == "sessions" {
			first()
		}
	})
	t.Cleanup(sweeping(t, s))
	<-watched
}

func TestSessionsThatAppearLaterAreServed(t *testing.T) {
	w := newWorld(t, "first")
	watching(t, w, notifiedOnly)
	for i := range 20 {
		w.create(fmt.Sprint("s", i))
		w.later(fmt.Sprint("s", i), "go")
	}
	eventually(t, "the messages of the new sessions arrive", func() bool { return len(w.agent.mids()) == 20 })
	w.later("s3", "again")
	w.later("first", "go")
	eventually(t, "later messages arrive", func() bool { return len(w.agent.mids()) == 22 })
	for round := range 5 { // the same id is another session each time
		s, err := w.store.Open("s3")
		must(t, err)
		must(t, s.Close(t.Context()))
		must(t, s.Release())
		w.create("s3")
		w.later("s3", "new life")
		eventually(t, "a message of the next session with the id arrives", func() bool { return len(w.agent.mids()) == 23+round })
	}
}

// A session whose oldest message is unconfirmed is not tried again when more
// comes, but at once when somebody decides.
func TestADecisionIsNoticed(t *testing.T) {
	for name, decide := range map[string]func(w *world, mid string) error{
		"confirm": func(w *world, mid string) error {
			_, err := w.Confirm(w.t.Context(), "s1", mid, false)
			return err
		},
		"confirm absent": func(w *world, mid string) error {
			_, err := w.Confirm(w.t.Context(), "s1", mid, true)
			return err
		},
		"revoke": func(w *world, mid string) error { return w.Revoke(w.t.Context(), "s1", mid) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "s1")
			w.agent.set(vague)
			mid := w.send("s1", dispatch.Message{Text: "one"}).MID
			if got := w.condition("s1", mid); got != dispatch.Unconfirmed {
				t.Fatalf("got the message %s, want unconfirmed", got)
			}
			w.agent.set(nil)
			var looks atomic.Int32
			w.agent.looks = func(string) adapter.Presence { looks.Add(1); return adapter.CannotTell }
			watching(t, w, notifiedOnly)
			eventually(t, "it is looked up and again", func() bool { return looks.Load() == 2 })
			for range 5 {
				w.later("s1", "more")
			}
			must(t, decide(w, mid))
			eventually(t, "the rest arrives", func() bool { return len(w.pending("s1")) == 0 })
			if got := looks.Load(); got != 2 {
				t.Errorf("got %d attempts at the unconfirmed message, want 2", got)
			}
		})
	}
}

// When the system has no more watches, sessions are polled, and that is said once.
func TestWithoutWatchesSessionsArePolled(t *testing.T) {
	full := syscall.ENOSPC
	for _, tt := range []struct {
		name  string
		limit func(s *dispatch.Sweeper)
	}{
		{"no instance", func(s *dispatch.Sweeper) { s.NoWatcher(syscall.EMFILE) }},
		{"no watch", func(s *dispatch.Sweeper) {
			s.Watching(func(string) error { return full }, func(string) {})
		}},
		{"a few watches", func(s *dispatch.Sweeper) {
			left := 3
			s.Watching(func(string) error {
				if left--; left < 0 {
					return full
				}
				return nil
			}, func(string) {})
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			for i := range 10 {
				w.create(fmt.Sprint("s", i))
			}
			var j journal
			o := notifiedOnly
			o.Poll, o.Logger = 5*time.Millisecond, j.logger()
			s := dispatch.NewSweeper(w.Dispatcher, o)
			tt.limit(s)
			t.Cleanup(sweeping(t, s))
			for n := 1; n <= 3; n++ {
				for i := range 10 {
					w.later(fmt.Sprint("s", i), "go")
				}
				eventually(t, "all messages arrive", func() bool { return len(w.agent.mids()) == 10*n })
			}
			if n := j.lines("level=WARN"); n != 1 && runtime.GOOS == "linux" {
				t.Errorf("got %d warnings, want 1:\n%s", n, j.b.String())
			}
		})
	}
}

// When watches are to be had again, the sweeper takes them.
func TestWatchesAreTakenWhenThereAreSome(t *testing.T) {
	w := newWorld(t, "s1", "s2")
	var full atomic.Bool
	full.Store(true)
	watched := make(chan string, 100)
	o := notifiedOnly
	o.Poll = 5 * time.Millisecond
	s := dispatch.NewSweeper(w.Dispatcher, o)
	s.Watching(func(string) error {
		if full.Load() {
			return syscall.ENOSPC
		}
		return nil
	}, func(dir string) { watched <- filepath.Base(dir) })
	t.Cleanup(sweeping(t, s))
	w.later("s1", "go")
	eventually(t, "the message arrives", func() bool { return len(w.agent.mids()) == 1 })
	full.Store(false)
	if runtime.GOOS == "linux" {
		for range 3 {
			<-watched
		}
	}
}

// A store that is taken away and made again is found again.
func TestAStoreThatIsMadeAgainIsServed(t *testing.T) {
	w := newWorld(t, "s1")
	o := notifiedOnly
	o.Poll = 5 * time.Millisecond
	watching(t, w, o)
	for n := 1; n <= 10; n++ {
		w.later("s1", "go")
		eventually(t, "a message arrives", func() bool { return len(w.agent.mids()) == n })
		if n%2 == 0 {
			must(t, os.RemoveAll(filepath.Join(w.dir, "sessions")))
			w.create("s1")
		}
	}
}

// BenchmarkIdleSessions is what a look at 500 sessions costs that owe nothing.
func BenchmarkIdleSessions(b *testing.B) {
	w := newWorld(b)
	for i := range 500 {
		w.create(fmt.Sprint("s", i))
	}
	s := dispatch.NewSweeper(w.Dispatcher, dispatch.SweepOptions{})
	for b.Loop() {
		if _, err := s.Sweep(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// Two sweepers that are notified of each other's attempts at a session, in the
// middle of an insert too, do not spur each other on.
func TestNotifiedSweepersDoNotSpurEachOtherOn(t *testing.T) {
	w := newWorld(t, "s1", "end")
	var attempts atomic.Int32
	w.agent.set(func(p adapter.Prompt) error {
		if p.Session == "end" {
			return nil
		}
		attempts.Add(1)
		w.later("s1", "more") // so that the other one has a look meanwhile
		return adapter.ErrBusy
	})
	w.later("s1", "go")
	watching(t, w, notifiedOnly)
	watching(t, w, notifiedOnly)
	for n := 1; n <= 300; n++ { // as long as this takes
		w.later("end", "go")
		eventually(t, "a message to another session arrives", func() bool { return len(w.served()) == n })
	}
	if n := attempts.Load(); n > 60 {
		t.Errorf("got %d attempts, want those of two ladders", n)
	}
}

// A lasting adapter takes what it gets once it is told to end.
type lasting struct{ entered chan struct{} }

func (lasting) Headless() bool { return false }

func (a lasting) Insert(ctx context.Context, _ adapter.Prompt) error {
	close(a.entered)
	<-ctx.Done()
	return nil
}

// Run ends with all that it started, in the middle of an insert too, and what the
// harness took until then is delivered.
func TestRunEndsWithoutATrace(t *testing.T) {
	w := newWorld(t, "s1", "s2")
	mid := w.later("s1", "go")
	a := lasting{make(chan struct{})}
	w.use(a)
	stop := sweeping(t, dispatch.NewSweeper(w.Dispatcher, dispatch.SweepOptions{Grace: time.Millisecond}))
	<-a.entered
	stop()
	if got := w.condition("s1", mid); got != dispatch.Delivered {
		t.Errorf("got the message %s, want delivered", got)
	}
	eventually(t, "no goroutine of the sweeper is left", func() bool {
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		return !bytes.Contains(stacks, []byte("fsnotify.(")) && !bytes.Contains(stacks, []byte("dispatch.(*loop)"))
	})
}
