package dispatch_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/dispatch"
)

// A slow adapter takes a prompt after a while, unless it is called off.
type slow struct{ takes time.Duration }

func (slow) Headless() bool { return false }

func (a slow) Insert(ctx context.Context, _ adapter.Prompt) error {
	select {
	case <-time.After(a.takes):
		return nil
	case <-ctx.Done():
		return adapter.Unconfirm(ctx.Err())
	}
}

// use goes on with a new Dispatcher whose sessions all have the adapter a.
func (w *world) use(a adapter.Adapter) {
	d := dispatch.New(w.store, dispatch.Options{Adapters: adapter.Registry{{
		Name: "agent",
		Open: func(adapter.Session, map[string]string) (adapter.Adapter, error) { return a, nil },
	}}})
	w.Dispatcher = d
	w.t.Cleanup(func() { d.Close() })
}

// When the sweeper is told to end, it starts nothing new, and an insert that is
// under way has its grace.
func TestInsertsHaveAGrace(t *testing.T) {
	hurry := make(chan struct{})
	close(hurry)
	for _, tt := range []struct {
		name  string
		takes time.Duration
		grace time.Duration
		hurry chan struct{}
		ends  time.Duration // after it was told
		want  dispatch.Condition
		cut   int // lines
	}{
		{"in time", 20 * time.Second, 0, nil, 19 * time.Second, dispatch.Delivered, 0},
		{"too late", time.Hour, 0, nil, dispatch.DefaultSweepGrace, dispatch.Unconfirmed, 1},
		{"a longer grace", 50 * time.Second, time.Minute, nil, 49 * time.Second, dispatch.Delivered, 0},
		{"as long as it takes", time.Hour, -1, nil, time.Hour - time.Second, dispatch.Delivered, 0},
		{"at once", time.Hour, -1, hurry, 0, dispatch.Unconfirmed, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, "s1")
				w.use(slow{tt.takes})
				first, second := w.later("s1", "one"), w.later("s1", "two")
				var j journal
				o := polling
				o.Grace, o.Hurry, o.Logger = tt.grace, tt.hurry, j.logger()
				sweeper := dispatch.NewSweeper(w.Dispatcher, o)
				stop := sweeping(t, sweeper)
				pass(time.Second)
				if n := sweeper.Inserting(); n != 1 {
					t.Errorf("got %d inserts under way, want 1", n)
				}
				told := time.Now()
				stop()
				if n := sweeper.Inserting(); n != 0 {
					t.Errorf("got %d inserts under way after the end, want none", n)
				}
				if got := time.Since(told); got != tt.ends {
					t.Errorf("got its end after %v, want %v", got, tt.ends)
				}
				if got := w.condition("s1", first); got != tt.want {
					t.Errorf("got the message %s, want %s", got, tt.want)
				}
				if got := w.condition("s1", second); got != dispatch.Owed {
					t.Errorf("got the message behind it %s, want owed", got)
				}
				if n := j.lines("level=INFO", "waiting", "session=s1", "mid="+first); n != 1 {
					t.Errorf("got %d lines about the wait, want 1:\n%s", n, &j.b)
				}
				if n := j.lines("level=WARN", "session=s1", "mid="+first); n != tt.cut {
					t.Errorf("got %d lines about the cut, want %d:\n%s", n, tt.cut, &j.b)
				}
			})
		})
	}
}

// What a harness answers within the grace is entered and told.
func TestARefusalWithinTheGraceIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "s1")
		w.agent.set(func(adapter.Prompt) error {
			<-time.After(10 * time.Second)
			return adapter.ErrBusy
		})
		mid := w.later("s1", "go")
		var j journal
		o := polling
		o.Logger = j.logger()
		stop := sweeping(t, dispatch.NewSweeper(w.Dispatcher, o))
		pass(time.Second)
		stop()
		if s, err := w.State(t.Context(), "s1", mid); err != nil || s.Condition != dispatch.Owed || s.Attempts != 1 {
			t.Errorf("got %+v, %v, want it owed after an attempt", s, err)
		}
		if n := j.lines("level=WARN", "msg=refused", "session=s1", "mid="+mid, "attempts=1", "reason="); n != 1 {
			t.Errorf("got %d lines about the refusal, want 1:\n%s", n, &j.b)
		}
	})
}

// A single sweep has the same grace.
func TestSweepHasAGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "s1")
		w.use(slow{20 * time.Second})
		w.later("s1", "one")
		w.later("s1", "two")
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		done, err := dispatch.NewSweeper(w.Dispatcher, dispatch.SweepOptions{}).Sweep(ctx)
		if !errors.Is(err, context.DeadlineExceeded) || done.Delivered != 1 {
			t.Errorf("got %d delivered, %v, want 1 and the end of the time", done.Delivered, err)
		}
	})
}
