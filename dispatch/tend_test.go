package dispatch_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docket-go/docket/dispatch"
)

// forwarding tends s1 by sending to s2, once.
func forwarding(w *world) func(ctx context.Context, id string) error {
	return func(ctx context.Context, id string) error {
		if id != "s1" {
			return nil
		}
		_, err := w.SendText(ctx, "s2", dispatch.Message{Text: "of s1", Key: "k", NoDrain: true})
		return err
	}
}

// What a session is tended with is delivered by the same sweep, whichever session
// comes first.
func TestSweepTendsBeforeItDelivers(t *testing.T) {
	w := newWorld(t, "s1", "s2")
	done, err := dispatch.NewSweeper(w.Dispatcher, dispatch.SweepOptions{Tend: forwarding(w)}).Sweep(t.Context())
	must(t, err)
	if done.Delivered != 1 || w.agent.last().Text != "of s1" {
		t.Errorf("got %+v and %q, want the message of the tended session delivered", done, w.agent.last().Text)
	}
}

func TestSweeperTends(t *testing.T) {
	for name, o := range map[string]dispatch.SweepOptions{"at each look": polling, "after a change": {Interval: time.Hour}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "s1", "s2")
			var ready atomic.Bool
			var looks atomic.Int64
			forward := forwarding(w)
			o.Tend = func(ctx context.Context, id string) error {
				looks.Add(1)
				if !ready.Load() {
					return nil
				}
				return forward(ctx, id)
			}
			stop := sweeping(t, dispatch.NewSweeper(w.Dispatcher, o))
			defer stop()
			eventually(t, "the first look", func() bool { return looks.Load() >= 2 })
			ready.Store(true)
			w.send("s1", dispatch.Message{Text: "something changes"})
			eventually(t, "the tended session's message", func() bool { return len(w.sent("s2")) == 1 && len(w.pending("s2")) == 0 })
		})
	}
}

// One that takes long keeps no other from being tended, and is not tended twice at a
// time; one that fails is logged once for each reason, and tended again.
func TestSweeperTendsEachForItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "long", "broken", "fine")
		var said journal
		var long, broken, fine, twice atomic.Int64
		o := polling
		o.Logger, o.Parallel = said.logger(), 1
		o.Tend = func(ctx context.Context, id string) error {
			switch id {
			case "long":
				if long.Add(1); long.Load() > 1 {
					twice.Add(1)
				}
				<-ctx.Done()
			case "broken":
				broken.Add(1)
				return errors.New("out of order")
			case "fine":
				fine.Add(1)
			}
			return nil
		}
		stop := sweeping(t, dispatch.NewSweeper(w.Dispatcher, o))
		pass(20 * time.Second)
		if twice.Load() != 0 || fine.Load() < 5 || broken.Load() < 5 {
			t.Errorf("got %d twice, %d and %d times, want none, and the others at each look", twice.Load(), fine.Load(), broken.Load())
		}
		if n := said.lines("level=WARN", "not tended", "session=broken"); n != 1 {
			t.Errorf("got %d warnings, want 1", n)
		}
		stop()
	})
}
