package turn_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/docket-go/docket/timeline/turn"
)

// withBarrier sets the barrier of a Writer.
func withBarrier(barrier func(context.Context, turn.Event) error) func(*turn.Options) {
	return func(o *turn.Options) { o.Barrier = barrier }
}

// The barrier of turn N is complete before turn N+1 starts, whoever starts it.
func TestBarrierCompletesBeforeTheNextTurnStarts(t *testing.T) {
	dir := newDir(t)
	entered, leave := make(chan string), make(chan struct{})
	w := open(t, dir, withBarrier(func(_ context.Context, e turn.Event) error {
		entered <- e.Turn
		<-leave
		return nil
	}))
	first := start(t, w, turn.Started{})
	var both sync.WaitGroup
	both.Go(func() {
		if _, err := first.Finish(t.Context(), none, success); err != nil {
			t.Error(err)
		}
	})
	if got := <-entered; got != first.ID() {
		t.Errorf("got the barrier of %s, want that of %s", got, first.ID())
	}
	var second *turn.Turn
	both.Go(func() {
		var err error
		if second, err = w.Start(t.Context(), turn.Started{}); err != nil {
			t.Error(err)
		}
	})
	eventually(t, "Start waits for the barrier", func() bool { return parked("semaphore.(*Weighted).Acquire(", "turn.(*Writer).clear(") })
	// The terminal is there for everybody, and the next turn is not.
	wantLog(t, dir, "1:turn-started", "1:turn-finished success")
	close(leave)
	both.Wait()
	wantLog(t, dir, "1:turn-started", "1:turn-finished success", "2:turn-started")
	both.Go(func() {
		if _, err := second.Finish(t.Context(), none, success); err != nil {
			t.Error(err)
		}
	})
	<-entered
	both.Wait()
}

// A barrier that fails is reported with the terminal, and no turn starts before it
// succeeded.
func TestBarrierErrorHoldsTheNextTurn(t *testing.T) {
	dir := newDir(t)
	stuck := errors.New("permission server is down")
	var cleared []string
	var fail error
	w := open(t, dir, withBarrier(func(_ context.Context, e turn.Event) error {
		cleared = append(cleared, e.Turn)
		if fail == stuck && len(cleared) == 2 {
			panic("out of luck")
		}
		return fail
	}))
	tn := start(t, w, turn.Started{})
	fail = stuck
	e, err := tn.Finish(t.Context(), none, success)
	var barrier *turn.BarrierError
	if !errors.As(err, &barrier) || !errors.Is(err, turn.ErrBarrier) || !errors.Is(err, stuck) || barrier.Turn != tn.ID() {
		t.Fatalf("got %v, want %v of %s", err, turn.ErrBarrier, tn.ID())
	}
	if e.Payload != success {
		t.Errorf("got %+v, want the terminal with the error", e)
	}
	if _, err := w.Start(t.Context(), turn.Started{}); !errors.Is(err, turn.ErrBarrier) { // it panics
		t.Errorf("Start: got %v, want %v", err, turn.ErrBarrier)
	}
	if err := w.Ready(t.Context()); !errors.Is(err, turn.ErrBarrier) {
		t.Errorf("Ready: got %v, want %v", err, turn.ErrBarrier)
	}
	wantLog(t, dir, "1:turn-started", "1:turn-finished success")
	fail = nil
	finish(t, tn, success) // tries again
	if err := w.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	start(t, w, turn.Started{})
	if want := []string{tn.ID(), tn.ID(), tn.ID(), tn.ID()}; !slices.Equal(cleared, want) {
		t.Errorf("got barriers of %v, want %v", cleared, want)
	}
}

// Many finish a turn at once, and again when a newer one is open: its barrier runs
// once, and never beside the newer turn.
func TestOldCompletionNeverTouchesANewerTurn(t *testing.T) {
	var calls atomic.Int64
	w := open(t, newDir(t), withBarrier(func(context.Context, turn.Event) error { calls.Add(1); return nil }))
	for round := range int64(5) {
		tn := start(t, w, turn.Started{})
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if _, err := tn.Finish(t.Context(), none, success); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		next := start(t, w, turn.Started{})
		finish(t, tn, success)
		if _, err := tn.End(t.Context(), none, gone); err != nil {
			t.Error(err)
		}
		if got, want := calls.Load(), 2*round+1; got != want {
			t.Fatalf("got %d barriers, want %d", got, want)
		}
		finish(t, next, success)
	}
}

// A writer that died before the barrier was complete leaves it to the next one, for
// exactly that turn. It is not called for a turn that a later one has followed.
func TestBarrierIsDueAfterARestart(t *testing.T) {
	dir := newDir(t)
	w := open(t, dir, withBarrier(func(_ context.Context, e turn.Event) error {
		if e.TurnNumber() == 2 {
			return errors.New("killed")
		}
		return nil
	}))
	finish(t, start(t, w, turn.Started{}), success)
	second := start(t, w, turn.Started{})
	if _, err := second.Finish(t.Context(), none, gone); !errors.Is(err, turn.ErrBarrier) {
		t.Fatalf("got %v, want %v", err, turn.ErrBarrier)
	}
	closeWriter(t, w)

	var cleared []turn.Event
	w = open(t, dir, withBarrier(func(_ context.Context, e turn.Event) error {
		cleared = append(cleared, e)
		return nil
	}))
	if len(cleared) != 0 {
		t.Error("Open ran the barrier")
	}
	last, ok := w.Last()
	if !ok || last.ID() != second.ID() {
		t.Fatalf("got %+v, want the last turn", last)
	}
	third := start(t, w, turn.Started{})
	if len(cleared) != 1 || cleared[0].Turn != second.ID() || cleared[0].Payload != gone {
		t.Errorf("got %+v, want the barrier of %s once", cleared, second.ID())
	}
	closeWriter(t, w)
	w = open(t, dir, withBarrier(func(context.Context, turn.Event) error { return errors.New("not due") }))
	if tn, ok := w.Active(); !ok || tn.ID() != third.ID() {
		t.Errorf("got %+v, want the third turn to be open", tn)
	}
}

// Who waits for a barrier can give up. The barrier may use the Writer.
func TestStartGivesUpOnABarrierWithItsContext(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	var w *turn.Writer
	w = open(t, newDir(t), withBarrier(func(ctx context.Context, _ turn.Event) error {
		close(entered)
		<-leave
		_, err := w.Publish(ctx, none, turn.State{Name: "permissions", Value: "none"})
		return err
	}))
	tn := start(t, w, turn.Started{})
	var done sync.WaitGroup
	done.Go(func() {
		if _, err := tn.Finish(t.Context(), none, success); err != nil {
			t.Error(err)
		}
	})
	<-entered
	cause := errors.New("no patience")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err := w.Start(ctx, turn.Started{}); !errors.Is(err, cause) {
		t.Errorf("got %v, want %v", err, cause)
	}
	close(leave)
	done.Wait()
	if got := w.State()["permissions"]; got != "none" {
		t.Errorf("got %q, want what the barrier published", got)
	}
	start(t, w, turn.Started{})
}

// Whoever starts a turn at the same moment, one gets it, the others are told which one
// is open, and none begins while the barrier of the one before runs.
func TestStartsAtOnce(t *testing.T) {
	var clearing atomic.Bool
	w := open(t, newDir(t), withBarrier(func(context.Context, turn.Event) error {
		clearing.Store(true)
		runtime.Gosched()
		clearing.Store(false)
		return nil
	}))
	var turns atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for turns.Load() < 150 {
				tn, err := w.Start(t.Context(), turn.Started{})
				if errors.Is(err, turn.ErrActive) {
					continue
				}
				if err != nil || clearing.Load() {
					t.Errorf("got %v, with a barrier running: %v", err, clearing.Load())
					return
				}
				turns.Add(1)
				if _, err := tn.Finish(t.Context(), none, success); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}

// A lateContext does something when it is first asked for its end: that is when its
// caller is about to wait.
type lateContext struct {
	context.Context
	once *sync.Once
	do   func()
}

func (c lateContext) Done() <-chan struct{} {
	c.once.Do(c.do)
	return c.Context.Done()
}

// What another caller does between a Start's look and its append is seen: a turn that
// it began, and one that it ended without completing the barrier.
func TestStartLooksAgain(t *testing.T) {
	stuck := errors.New("stuck")
	for _, tt := range []struct {
		name string
		do   func(w *turn.Writer)
		want error
	}{
		{"a turn began", func(w *turn.Writer) { start(t, w, turn.Started{}) }, turn.ErrActive},
		{"a turn came and went", func(w *turn.Writer) {
			if _, err := start(t, w, turn.Started{}).Finish(context.Background(), none, success); !errors.Is(err, stuck) {
				t.Errorf("got %v, want %v", err, stuck)
			}
		}, turn.ErrBarrier},
	} {
		w := open(t, newDir(t), withBarrier(func(context.Context, turn.Event) error { return stuck }))
		late := lateContext{t.Context(), &sync.Once{}, func() { tt.do(w) }}
		if tn, err := w.Start(late, turn.Started{}); !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, %v, want %v", tt.name, tn, err, tt.want)
		}
	}
}
