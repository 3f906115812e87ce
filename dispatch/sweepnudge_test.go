package dispatch_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/dispatch"
)

// A message that is accepted while its session is backed off is tried at once if
// somebody says so, and with it what is before it.
func TestNudgeDoesNotWaitForTheBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "s1")
		w.agent.set(busy)
		want := []string{w.later("s1", "one")}
		o := polling
		o.MinBackoff, o.MaxBackoff = time.Hour, time.Hour
		s := dispatch.NewSweeper(w.Dispatcher, o)
		defer sweeping(t, s)()
		pass(2 * time.Second)
		w.agent.set(nil)
		want = append(want, w.later("s1", "two"))
		pass(10 * time.Second)
		wantEqual(t, "before the nudge", w.agent.mids(), nil)
		s.Nudge("s1")
		synctest.Wait()
		wantEqual(t, "after it", w.agent.mids(), want)
	})
}

// A nudge in the middle of a pass, which ends as the agent is busy, is another pass
// and not one an hour later. Many nudges are one.
func TestNudgeDuringAPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "s1")
		tries := 0
		w.agent.set(func(adapter.Prompt) error {
			if tries++; tries == 1 {
				<-time.After(500 * time.Millisecond)
				return adapter.ErrBusy
			}
			return nil
		})
		want := []string{w.later("s1", "one")}
		o := polling
		o.MinBackoff, o.MaxBackoff = time.Hour, time.Hour
		s := dispatch.NewSweeper(w.Dispatcher, o)
		defer sweeping(t, s)()
		pass(100 * time.Millisecond)
		for range 100 {
			s.Nudge("s1")
		}
		pass(time.Second)
		wantEqual(t, "handed over", w.agent.mids(), want)
		if tries != 2 {
			t.Errorf("got %d attempts, want 2", tries)
		}
	})
}

// What is nudged before the sweeper runs is delivered when it does; what is not there,
// or no id, is nothing.
func TestNudgeOfNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "s1")
		var j journal
		o := polling
		o.Logger = j.logger()
		s := dispatch.NewSweeper(w.Dispatcher, o)
		for _, id := range []string{"s1", "nobody", "../s1", ""} {
			s.Nudge(id)
		}
		stop := sweeping(t, s)
		pass(time.Minute)
		stop()
		if n := j.lines(""); n != 0 {
			t.Errorf("got %d lines, want none: %s", n, &j.b)
		}
	})
}

// Nudges from everywhere lose no message, and deliver each one once and in order.
func TestNudgesFromEverywhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, dir: t.TempDir(), agent: &agent{}, buffered: true}
		w.reopen(dispatch.Options{})
		w.create("s1")
		w.agent.set(func(adapter.Prompt) error { <-time.After(time.Millisecond); return nil })
		o := polling
		o.Poll, o.Interval = -time.Hour, time.Hour
		s := dispatch.NewSweeper(w.Dispatcher, o)
		defer sweeping(t, s)()
		pass(time.Millisecond)
		for i := range 20 {
			go func() {
				for j := range 10 {
					w.SendText(t.Context(), "s1", dispatch.Message{Text: fmt.Sprint(i, " ", j), NoDrain: true})
					s.Nudge("s1")
				}
			}()
		}
		pass(time.Second)
		wantEqual(t, "handed over", w.agent.mids(), w.sent("s1"))
		if n := len(w.agent.mids()); n != 200 {
			t.Errorf("got %d messages, want 200", n)
		}
	})
}

// A message that is accepted when a pass has seen the end of the queue, and before the
// sweeper heard of that, is not forgotten.
func TestNudgeBetweenTwoPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "s1")
		want := []string{w.later("s1", "one")}
		o := polling
		o.Poll, o.Interval = -time.Hour, time.Hour
		var s *dispatch.Sweeper
		o.Logger = slog.New(slog.NewTextHandler(writing(func(line string) {
			if len(want) == 1 && strings.Contains(line, want[0]) {
				want = append(want, w.later("s1", "two"))
				s.Nudge("s1")
				synctest.Wait()
			}
		}), nil))
		s = dispatch.NewSweeper(w.Dispatcher, o)
		defer sweeping(t, s)()
		pass(time.Second)
		wantEqual(t, "handed over", w.agent.mids(), want)
	})
}

// writing is a writer that does what the function does.
type writing func(line string)

func (f writing) Write(b []byte) (int, error) {
	f(string(b))
	return len(b), nil
}
