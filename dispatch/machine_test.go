package dispatch_test

import (
	"errors"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/lock/step"
)

var errDied = errors.New("the process died here")

// A model is what one session must say, in plain slices.
type model struct {
	sent      []string          // in the timeline
	owed      []string          // in the queue
	delivered []string          // at the agent
	held      bool              // the head is unconfirmed
	revoked   map[string]bool   // taken back
	keys      map[string]string // key to mid
}

// Everything that a user can do, in any order, against the model; and a process
// that dies at any step, whose successor has nothing but the files.
func TestAnyOrderOfOperations(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		w.buffered = true
		w.reopen(dispatch.Options{})
		w.create("s1")
		m := &model{revoked: map[string]bool{}, keys: map[string]string{}}
		n := 0
		text := func() string { n++; return "message " + strconv.Itoa(n) }
		rt.Repeat(map[string]func(*rapid.T){
			"send": func(rt *rapid.T) { m.accept(w.later("s1", text())) },
			"keyed": func(rt *rapid.T) {
				key := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "key")
				a := w.send("s1", dispatch.Message{Text: "keyed " + key, Key: key, NoDrain: true})
				if mid, again := m.keys[key]; again != a.Replayed || again && mid != a.MID {
					rt.Fatalf("key %s: got %+v, want replayed %v of %s", key, a, again, mid)
				}
				if !a.Replayed {
					m.keys[key] = a.MID
					m.accept(a.MID)
				}
			},
			"drain": func(rt *rapid.T) {
				taken := rapid.IntRange(0, 4).Draw(rt, "taken")
				end := rapid.SampledFrom([]error{adapter.ErrBusy, errors.New("lost"), errDied}).Draw(rt, "end")
				drain(rt, w, m, taken, end)
			},
			"confirm": func(rt *rapid.T) { decide(rt, w, m, rapid.Bool().Draw(rt, "absent")) },
			"revoke": func(rt *rapid.T) {
				if len(m.owed) == 0 {
					return
				}
				i := rapid.IntRange(0, len(m.owed)-1).Draw(rt, "which")
				must(w.t, w.Revoke(t.Context(), "s1", m.owed[i]))
				m.revoke(i)
			},
			"repair": func(rt *rapid.T) {
				_, err := w.Repair(t.Context(), "s1")
				must(w.t, err)
			},
			"die sending": func(rt *rapid.T) { dieSending(rt, w, m, text()) },
			"reopen":      func(rt *rapid.T) { w.reopen(dispatch.Options{}) },
			"":            func(rt *rapid.T) { m.check(rt, w) },
		})
	})
}

func (m *model) accept(mid string) {
	m.sent, m.owed = append(m.sent, mid), append(m.owed, mid)
}

func (m *model) revoke(i int) {
	m.revoked[m.owed[i]] = true
	m.held = m.held && i > 0
	m.owed = slices.Delete(m.owed, i, i+1)
}

func (m *model) check(rt *rapid.T, w *world) {
	for what, pair := range map[string][2][]string{
		"timeline": {w.sent("s1"), m.sent},
		"owed":     {w.pending("s1"), m.owed},
		"agent":    {w.agent.mids(), m.delivered},
	} {
		if !slices.Equal(pair[0], pair[1]) {
			rt.Fatalf("%s: got %v, want %v", what, pair[0], pair[1])
		}
	}
	for i, mid := range m.sent {
		want := dispatch.Delivered
		switch {
		case len(m.owed) > 0 && m.held && mid == m.owed[0]:
			want = dispatch.Unconfirmed
		case slices.Contains(m.owed, mid):
			want = dispatch.Owed
		case m.revoked[mid]:
			want = dispatch.Revoked
		}
		if got := w.condition("s1", mid); got != want {
			rt.Fatalf("message %d: got %s, want %s", i, got, want)
		}
	}
}

// drain lets the agent take some messages and then end the pass. If it ends by
// dying, the message that it died at is unconfirmed.
func drain(rt *rapid.T, w *world, m *model, taken int, end error) {
	if m.held {
		if _, err := w.Drain(w.t.Context(), "s1", dispatch.DrainOptions{}); !errors.Is(err, adapter.ErrUnconfirmed) {
			rt.Fatalf("got %v, want the unconfirmed head to hold the pass", err)
		}
		return
	}
	taken = min(taken, len(m.owed))
	left := taken
	w.agent.set(func(adapter.Prompt) error {
		if left == 0 && errors.Is(end, errDied) {
			panic(errDied) // a panic of an adapter and a death look the same from the files
		}
		if left == 0 {
			return end
		}
		left--
		return nil
	})
	defer w.agent.set(nil)
	done, err := w.Drain(w.t.Context(), "s1", dispatch.DrainOptions{})
	if !slices.Equal(done.Delivered, m.owed[:taken]) || (err == nil) != (taken == len(m.owed)) {
		rt.Fatalf("got %v, %v, want %v", done.Delivered, err, m.owed[:taken])
	}
	m.delivered = append(m.delivered, m.owed[:taken]...)
	m.owed = m.owed[taken:]
	m.held = len(m.owed) > 0 && !errors.Is(end, adapter.ErrBusy)
}

func decide(rt *rapid.T, w *world, m *model, absent bool) {
	if len(m.owed) == 0 {
		return
	}
	s, err := w.Confirm(w.t.Context(), "s1", m.owed[0], absent)
	switch {
	case !m.held:
		if !errors.Is(err, dispatch.ErrNotUnconfirmed) {
			rt.Fatalf("got %+v, %v, want ErrNotUnconfirmed", s, err)
		}
		return
	case err != nil:
		rt.Fatal(err)
	case !absent:
		m.owed = m.owed[1:]
	}
	m.held = false
}

// dieSending lets the sender die at one of its steps. Its message is then wholly
// there or not at all.
func dieSending(rt *rapid.T, w *world, m *model, text string) {
	at := rapid.IntRange(1, 8).Draw(rt, "step")
	restore := step.Hook(func(string) {
		if at--; at == 0 {
			panic(errDied)
		}
	})
	died := func() (died bool) {
		defer func() { died = recover() != nil }()
		w.later("s1", text)
		return false
	}()
	restore()
	if died {
		w.reopen(dispatch.Options{})
	}
	// The next pass completes what was begun, whether or not it finds anything to do.
	w.agent.set(busy)
	w.Drain(w.t.Context(), "s1", dispatch.DrainOptions{})
	w.agent.set(nil)
	recorded := w.sent("s1")
	if len(recorded) == len(m.sent)+1 {
		m.accept(recorded[len(recorded)-1])
	} else if !died {
		rt.Fatal("a send that did not die is not recorded")
	}
}
