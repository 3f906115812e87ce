package dispatch_test

import (
	"errors"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/dispatch"
)

// attempts keeps what [dispatch.SweepOptions.Passed] is told of a session.
type attempts struct {
	mu  sync.Mutex
	all map[string][]dispatch.Attempt
}

func (a *attempts) passed(one dispatch.Attempt) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all == nil {
		a.all = map[string][]dispatch.Attempt{}
	}
	a.all[one.Session] = append(a.all[one.Session], one)
}

func (a *attempts) of(id string) []dispatch.Attempt {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.all[id]
}

// Whoever runs a sweeper learns at once of a message that a person has to decide about,
// again with each attempt, and of each that was delivered.
func TestSweeperTellsOfEachPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "lost", "fine")
		w.agent.set(func(p adapter.Prompt) error {
			if p.Session == "lost" {
				return adapter.Unconfirm(errors.New("the pane shows nothing"))
			}
			return nil
		})
		lost, fine := w.later("lost", "one"), w.later("fine", "two")
		var told attempts
		o := polling
		o.Passed = told.passed
		stop := sweeping(t, dispatch.NewSweeper(w.Dispatcher, o))
		defer stop()
		pass(5 * time.Minute)
		first := told.of("lost")
		if len(first) < 3 {
			t.Fatalf("told of %d attempts at the message that stays unconfirmed, want some in five minutes", len(first))
		}
		for _, a := range first {
			var ended *dispatch.PassError
			if !errors.As(a.Err, &ended) || ended.MID != lost || ended.Answer != adapter.Unconfirmed {
				t.Errorf("got %+v, want message %s unconfirmed", a, lost)
			}
		}
		if got := told.of("fine"); len(got) != 1 || got[0].Err != nil || len(got[0].Delivered) != 1 || got[0].Delivered[0] != fine {
			t.Errorf("got %+v, want %s delivered once", got, fine)
		}
		_, err := w.Confirm(t.Context(), "lost", lost, false)
		must(t, err)
		told.mu.Lock()
		told.all = nil
		told.mu.Unlock()
		w.later("lost", "three")
		pass(5 * time.Minute)
		if got := told.of("lost"); len(got) == 0 || !errors.Is(got[0].Err, adapter.ErrUnconfirmed) {
			t.Errorf("after the confirmation: got %+v, want the next message's", got)
		}
	})
}

// A session that went while its pass was made is not spoken of.
func TestSweepIsSilentAboutTheGone(t *testing.T) {
	w := newWorld(t, "closing", "other")
	w.later("closing", "one")
	w.later("other", "two")
	w.agent.set(func(p adapter.Prompt) error {
		if p.Session == "closing" {
			return errors.Join(os.RemoveAll(w.path("closing", "")), adapter.ErrBusy)
		}
		return nil
	})
	var told attempts
	_, err := dispatch.NewSweeper(w.Dispatcher, dispatch.SweepOptions{Passed: told.passed}).Sweep(t.Context())
	must(t, err)
	if len(told.of("other")) != 1 || len(told.of("closing")) != 0 {
		t.Errorf("told of %+v and %+v, want of the one that is there alone", told.of("other"), told.of("closing"))
	}
}
