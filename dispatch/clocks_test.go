package dispatch_test

import (
	"errors"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

// jumping is a world whose clocks show any time, at each look another one.
func jumping(t *testing.T, random *rand.Rand) *world {
	w := newWorld(t)
	var mu sync.Mutex
	now := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return time.Unix(random.Int64N(2_000_000_000), 0)
	}
	store, err := session.OpenStore(w.dir, session.Options{Now: now, Timeline: timeline.Options{Buffered: true, SegmentBytes: 3000, Now: now}})
	must(t, errors.Join(err, w.Close()))
	w.store = store
	w.Dispatcher = dispatch.New(store, dispatch.Options{Now: now, Adapters: adapter.Registry{{
		Name: "agent",
		Open: func(adapter.Session, map[string]string) (adapter.Adapter, error) { return w.agent, nil },
	}}})
	t.Cleanup(func() { w.Close() })
	w.create("s1")
	return w
}

// Clocks that jump change no order, no state and no delivery.
func TestJumpingClocks(t *testing.T) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 1))
	w := jumping(t, random)
	var sent, kept []string
	for i := range 100 {
		w.agent.set([]func(adapter.Prompt) error{nil, busy}[random.IntN(2)])
		key := strconv.Itoa(i)
		a := w.send("s1", dispatch.Message{Text: "message " + key, Key: key, NoDrain: random.IntN(2) == 0})
		if again := w.send("s1", dispatch.Message{Text: "message " + key, Key: key, NoDrain: true}); !again.Replayed || again.MID != a.MID {
			t.Fatalf("seed %d: got %+v, want %s again", seed, again, a.MID)
		}
		sent = append(sent, a.MID)
		if owed := w.pending("s1"); i%10 == 9 && len(owed) > 0 {
			must(t, w.Revoke(t.Context(), "s1", owed[len(owed)-1]))
			if c := w.condition("s1", owed[len(owed)-1]); c != dispatch.Revoked {
				t.Fatalf("seed %d: got %s, want revoked", seed, c)
			}
		}
	}
	w.agent.set(nil)
	_, err := w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
	must(t, err)
	for _, mid := range sent {
		switch c := w.condition("s1", mid); c {
		case dispatch.Delivered:
			kept = append(kept, mid)
		case dispatch.Revoked:
		default:
			t.Errorf("seed %d: message %s: got %s, want its end", seed, mid, c)
		}
	}
	wantEqual(t, "timeline", w.sent("s1"), sent)
	wantEqual(t, "agent", w.agent.mids(), kept)
}

// What a sender owes is void once it is closed, and what a later session with its id
// sends is not, whatever the clocks say.
func TestJumpingClocksVoidNothingElse(t *testing.T) {
	w := jumping(t, rand.New(rand.NewPCG(rand.Uint64(), 2)))
	var want []string
	for range 20 {
		w.create("s2")
		w.agent.set(busy)
		void := w.send("s1", dispatch.Message{Text: "void", From: "s2"}).MID
		s, err := w.store.Open("s2")
		must(t, err)
		must(t, errors.Join(s.Close(t.Context()), s.Release()))
		w.create("s2")
		want = append(want, w.send("s1", dispatch.Message{Text: "of the next life", From: "s2", NoDrain: true}).MID)
		w.agent.set(nil)
		_, err = w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
		must(t, err)
		if c := w.condition("s1", void); c != dispatch.Revoked {
			t.Fatalf("got %s, want it revoked with its sender", c)
		}
		s, err = w.store.Open("s2")
		must(t, err)
		must(t, errors.Join(s.Close(t.Context()), s.Release()))
	}
	wantEqual(t, "agent", w.agent.mids(), want)
}
