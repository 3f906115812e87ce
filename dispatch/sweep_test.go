package dispatch_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/lock"
)

// polling makes a sweeper that works in a bubble of package synctest, where
// notifications of the operating system have no place.
var polling = dispatch.SweepOptions{Poll: -time.Second}

// sweeping runs s until the returned function is called, which waits for its end.
func sweeping(t testing.TB, s *dispatch.Sweeper) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	return sync.OnceFunc(func() {
		t.Helper()
		cancel()
		wantIs(t, <-ended, context.Canceled)
	})
}

// pass lets time pass in a bubble.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// A journal is a log that a test can read.
type journal struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.Write(p)
}

func (j *journal) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(j, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func (j *journal) lines(having ...string) (n int) {
	j.mu.Lock()
	defer j.mu.Unlock()
next:
	for line := range strings.Lines(j.b.String()) {
		for _, part := range having {
			if !strings.Contains(line, part) {
				continue next
			}
		}
		n++
	}
	return n
}

// opening goes on with a new Dispatcher that tells f of each adapter that it opens.
func (w *world) opening(f func(s adapter.Session)) {
	d := dispatch.New(w.store, dispatch.Options{Adapters: adapter.Registry{{
		Name: "agent",
		Open: func(s adapter.Session, _ map[string]string) (adapter.Adapter, error) {
			f(s)
			return w.agent, nil
		},
	}}})
	w.Dispatcher = d
	w.t.Cleanup(func() { d.Close() })
}

// served returns the sessions whose messages the agents got, in order.
func (w *world) served() []string {
	w.agent.mu.Lock()
	defer w.agent.mu.Unlock()
	var ids []string
	for _, p := range w.agent.got {
		ids = append(ids, p.Session)
	}
	return ids
}

// Nothing tells the sweeper that the agent is back: the debt itself is what makes
// it try.
func TestSweeperDeliversOnceTheAgentIsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "s1", "s2")
		var attempts []time.Time
		w.agent.set(func(p adapter.Prompt) error {
			if p.Session == "s1" {
				attempts = append(attempts, time.Now())
			}
			return adapter.ErrBusy
		})
		want := []string{w.later("s1", "one"), w.later("s1", "two"), w.later("s1", "three")}
		w.later("s2", "other")
		o := polling
		o.Random = func() float64 { return 0.5 }
		stop := sweeping(t, dispatch.NewSweeper(w.Dispatcher, o))
		defer stop()
		pass(10 * time.Minute)
		step := dispatch.DefaultMinBackoff
		for i := 1; i < len(attempts); i++ {
			got := attempts[i].Sub(attempts[i-1])
			if got < step*7/10 || got > step*8/10 {
				t.Errorf("distance %d: got %v, want three quarters of %v", i, got, step)
			}
			step = min(2*step, dispatch.DefaultMaxBackoff)
		}
		if n := len(attempts); n < 10 || n > 30 {
			t.Errorf("got %d attempts in ten minutes, want a few", n)
		}
		w.agent.set(nil)
		pass(dispatch.DefaultMaxBackoff + time.Second)
		if got := len(w.agent.mids()); got != 4 {
			t.Errorf("got %d messages at the agent, want 4", got)
		}
		wantEqual(t, "owed", append(w.pending("s1"), w.pending("s2")...), nil)
		wantEqual(t, "timeline", w.sent("s1"), want)
	})
}

func TestHangingInsertsDelayNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		held := make(chan struct{})
		w.agent.set(func(p adapter.Prompt) error {
			if strings.HasPrefix(p.Session, "stuck") {
				<-held
			}
			return nil
		})
		o := polling
		o.Parallel = 4
		for i := range 2 * o.Parallel {
			w.create(fmt.Sprint("stuck", i))
			w.later(fmt.Sprint("stuck", i), "hang")
		}
		for i := range 50 {
			w.create(fmt.Sprint("well", i))
			w.later(fmt.Sprint("well", i), "go")
		}
		stop := sweeping(t, dispatch.NewSweeper(w.Dispatcher, o))
		pass(5 * time.Second)
		if got := len(w.agent.mids()); got != 50 {
			t.Errorf("got %d messages at the agents that take them, want 50", got)
		}
		close(held)
		pass(time.Second)
		if got := len(w.agent.mids()); got != 58 {
			t.Errorf("got %d messages at the agents, want 58", got)
		}
		stop()
	})
}

// Passes of long queues give way to each other, and go on behind those that wait:
// there are never more at work than are allowed, and one that still waits for its
// agent.
func TestLongQueuesGiveWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var now, most atomic.Int32
		w.agent.set(func(adapter.Prompt) error {
			most.Store(max(most.Load(), now.Add(1)))
			<-time.After(100 * time.Millisecond)
			now.Add(-1)
			return nil
		})
		for i := range 5 {
			w.create(fmt.Sprint("s", i))
			for range 30 {
				w.later(fmt.Sprint("s", i), "more")
			}
		}
		o := polling
		o.Parallel = 1
		defer sweeping(t, dispatch.NewSweeper(w.Dispatcher, o))()
		pass(time.Minute)
		ids := w.served()
		if len(ids) != 150 {
			t.Fatalf("got %d messages at the agents, want 150", len(ids))
		}
		if most.Load() > 2 {
			t.Errorf("got %d inserts at once, want 2 at most", most.Load())
		}
		first := ids[:75]
		for i := range 5 {
			if !slices.Contains(first, fmt.Sprint("s", i)) {
				t.Errorf("got none for s%d among the first half, %v", i, first)
			}
		}
	})
}

func TestSweepTouchesOnlyWhatOwes(t *testing.T) {
	w := newWorld(t, "s7", "s77", "s777")
	for i := range 1000 {
		err := os.Mkdir(filepath.Join(w.dir, "sessions", fmt.Sprint("s", i)), 0o700)
		if !errors.Is(err, os.ErrExist) {
			must(t, err)
		}
	}
	for _, id := range []string{"s7", "s77", "s777"} {
		w.later(id, "go")
	}
	var mu sync.Mutex
	opened := map[string]int{}
	w.opening(func(s adapter.Session) {
		mu.Lock()
		defer mu.Unlock()
		opened[s.ID]++
	})
	done, err := dispatch.NewSweeper(w.Dispatcher, dispatch.SweepOptions{}).Sweep(t.Context())
	must(t, err)
	var ids []string
	for _, a := range done.Attempts {
		must(t, a.Err)
		ids = append(ids, a.Session)
	}
	wantEqual(t, "attempts", ids, []string{"s7", "s77", "s777"})
	if done.Delivered != 3 || len(opened) != 3 {
		t.Errorf("got %d delivered, adapters opened for %v, want 3 and those three", done.Delivered, opened)
	}
}

// Sweepers that see each other's attempts do not spur each other on.
func TestTwoSweepersTryNoMoreThanTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "s1")
		var attempts atomic.Int32
		w.agent.set(func(adapter.Prompt) error {
			attempts.Add(1)
			<-time.After(100 * time.Millisecond)
			return adapter.ErrBusy
		})
		w.later("s1", "go")
		for range 2 {
			defer sweeping(t, dispatch.NewSweeper(w.Dispatcher, polling))()
		}
		pass(10 * time.Minute)
		if n := attempts.Load(); n > 60 {
			t.Errorf("got %d attempts in ten minutes, want those of two ladders", n)
		}
	})
}

// A pass elsewhere is neither waited for nor an obstacle for other sessions.
func TestSweepLeavesASessionInAPassAlone(t *testing.T) {
	w := newWorld(t, "s1", "s2")
	w.later("s1", "one")
	w.later("s2", "two")
	locks, err := lock.Open(filepath.Join(w.dir, "sessions", "s1"), lock.Options{})
	must(t, err)
	defer locks.Close()
	held, err := locks.Delivery(t.Context())
	must(t, err)
	defer held.Release()
	done, err := dispatch.NewSweeper(w.Dispatcher, dispatch.SweepOptions{}).Sweep(t.Context())
	must(t, err)
	if len(done.Attempts) != 2 || done.Delivered != 1 {
		t.Fatalf("got %+v, want two attempts and one delivered", done)
	}
	wantIs(t, done.Attempts[0].Err, lock.ErrBusy)
	must(t, done.Attempts[1].Err)
}

func TestSweeperWaitsForTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.dir = filepath.Join(w.dir, "later")
		w.reopen(dispatch.Options{})
		defer sweeping(t, dispatch.NewSweeper(w.Dispatcher, polling))()
		pass(time.Minute)
		w.create("s1")
		w.later("s1", "go")
		pass(time.Minute)
		if got := len(w.agent.mids()); got != 1 {
			t.Errorf("got %d messages at the agent, want 1", got)
		}
	})
}

func TestSweeperRefusesAStoreThatCannotBeListed(t *testing.T) {
	w := newWorld(t)
	must(t, os.WriteFile(filepath.Join(w.dir, "sessions"), nil, 0o600))
	s := dispatch.NewSweeper(w.Dispatcher, dispatch.SweepOptions{})
	wantIs(t, s.Run(t.Context()), syscall.ENOTDIR)
	_, err := s.Sweep(t.Context())
	wantIs(t, err, syscall.ENOTDIR)
}

// What a session suffers from is logged once, however often it is tried, and
// neither it nor a panic keeps others from their messages.
func TestBrokenSessionsDoNotStopTheSweeper(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "corrupt", "unread", "panics", "closed", "well")
		for _, id := range []string{"corrupt", "unread", "panics", "closed"} {
			w.later(id, "go")
		}
		spoil := func(id, name string) {
			must(t, os.WriteFile(filepath.Join(w.dir, "sessions", id, name), []byte("{]"), 0o600))
		}
		spoil("corrupt", "pending.json")
		spoil("unread", "session.json")
		w.opening(func(s adapter.Session) {
			if s.ID == "panics" {
				panic("what a day")
			}
		})
		w.agent.set(func(p adapter.Prompt) error {
			if p.Session == "closed" {
				return adapter.ErrGone
			}
			return nil
		})
		var j journal
		o := polling
		o.Logger = j.logger()
		defer sweeping(t, dispatch.NewSweeper(w.Dispatcher, o))()
		pass(20 * time.Second)
		for _, id := range []string{"corrupt", "unread"} { // they are hopeless from the beginning
			if n := j.lines("msg=corrupt", "session="+id); n != 1 {
				t.Errorf("got %d attempts at %s, want 1", n, id)
			}
		}
		s, err := w.store.Open("closed")
		must(t, err)
		must(t, errors.Join(s.Close(t.Context()), s.Release()))
		pass(time.Hour)
		w.later("well", "go")
		pass(time.Minute)
		wantEqual(t, "sessions at the agent", w.served(), []string{"well"})
		if n := j.lines("level=WARN", "session=panics", "what a day"); n != 1 {
			t.Errorf("got %d lines about the panic, want 1:\n%s", n, j.b.String())
		}
		for id, msg := range map[string]string{"corrupt": "level=ERROR msg=corrupt", "unread": "level=ERROR msg=corrupt", "closed": "level=WARN msg=refused"} {
			if n := j.lines(msg, "session="+id); n != 1 {
				t.Errorf("got %d lines %q about %s, want 1:\n%s", n, msg, id, j.b.String())
			}
		}
		if n := j.lines("delivered", "session=well", "mid="); n != 1 {
			t.Errorf("got %d lines about the delivery, want 1", n)
		}
		spoil("corrupt", "pending.json")
		if _, err := w.Repair(t.Context(), "corrupt"); err != nil {
			t.Fatal(err)
		}
		pass(dispatch.DefaultMaxBackoff + time.Second)
		wantEqual(t, "sessions at the agent", w.served(), []string{"well", "corrupt"})
	})
}
