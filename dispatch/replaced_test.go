package dispatch_test

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/queue"
)

// putBack are the ways in which a file comes to stand in the place of the queue.
var putBack = map[string]func(path string, content []byte) error{
	"written over": func(path string, content []byte) error { return os.WriteFile(path, content, 0o600) },
	"renamed": func(path string, content []byte) error {
		return errors.Join(os.WriteFile(path+".copy", content, 0o600), os.Rename(path+".copy", path))
	},
}

func (w *world) list(id string) []byte {
	w.t.Helper()
	content, err := os.ReadFile(w.path(id, "pending.json"))
	must(w.t, err)
	return content
}

// Whoever puts an older copy of the queue back gets nothing handed over that was
// delivered or revoked since, and loses nothing that was sent since, whatever the next
// operation is.
func TestOlderQueueIsNotBelieved(t *testing.T) {
	for way, put := range putBack {
		for next, do := range map[string]func(w *world){
			"drain":  func(*world) {},
			"send":   func(w *world) { w.later("s1", "next") },
			"revoke": func(w *world) { must(t, w.Revoke(t.Context(), "s1", w.later("s1", "next"))) },
			"confirm": func(w *world) {
				_, err := w.Confirm(t.Context(), "s1", w.agent.mids()[0], false)
				must(t, err)
			},
		} {
			for _, fresh := range []bool{true, false} {
				t.Run(strings.Join([]string{way, next, "fresh=" + strconv.FormatBool(fresh)}, "/"), func(t *testing.T) {
					w := newWorld(t, "s1")
					w.later("s1", "delivered")
					revoked := w.later("s1", "revoked")
					w.later("s1", "delivered too")
					copied := w.list("s1")
					must(t, w.Revoke(t.Context(), "s1", revoked))
					_, err := w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
					must(t, err)
					w.later("s1", "owed")
					w.send("s1", dispatch.Message{Text: "keyed", Key: "k", NoDrain: true})
					must(t, put(w.path("s1", "pending.json"), copied))
					if fresh {
						w.reopen(dispatch.Options{})
					}
					do(w)
					_, err = w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
					must(t, err)
					want := slices.DeleteFunc(w.sent("s1"), func(mid string) bool { return w.condition("s1", mid) == dispatch.Revoked })
					wantEqual(t, "agent", w.agent.mids(), want)
					disagree, err := w.Disagreements(t.Context(), "s1")
					if err != nil || len(disagree) > 0 {
						t.Fatalf("got %v, %v, want queue and timeline to agree", disagree, err)
					}
				})
			}
		}
	}
}

// What was done about a copy is logged, for nobody asked for it.
func TestOlderQueueIsLogged(t *testing.T) {
	w := newWorld(t, "s1")
	delivered := w.later("s1", "delivered")
	copied := w.list("s1")
	_, err := w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
	must(t, err)
	owed := w.later("s1", "owed")
	must(t, os.WriteFile(w.path("s1", "pending.json"), copied, 0o600))
	var log bytes.Buffer
	w.reopen(dispatch.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	_, err = w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
	must(t, err)
	for _, want := range []string{
		`level=WARN msg="queue replaced" session=s1 ended=1 forgotten=1`,
		`level=INFO msg=ended session=s1 mid=` + delivered,
		`level=INFO msg=forgotten session=s1 mid=` + owed,
	} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("got %s, want %q in it", log.String(), want)
		}
	}
}

// A copy that comes while the harness is asked finds what is being handed over neither
// forgotten nor owed once more.
func TestOlderQueueWhileHandingOver(t *testing.T) {
	for way, put := range putBack {
		t.Run(way, func(t *testing.T) {
			w := newWorld(t, "s1")
			w.later("s1", "first")
			copied := w.list("s1")
			w.later("s1", "second")
			w.later("s1", "third")
			w.agent.set(func(p adapter.Prompt) error {
				if p.Text != "first" {
					must(t, put(w.path("s1", "pending.json"), copied))
				}
				return nil
			})
			_, err := w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
			must(t, err)
			wantEqual(t, "agent", w.agent.mids(), w.sent("s1"))
			wantEqual(t, "owed", w.pending("s1"), nil)
		})
	}
}

// Where the log proves what the copy holds to be owed, nothing is rewritten, and the next
// holder does not ask it again.
func TestQueueThatIsNotOlderIsBelieved(t *testing.T) {
	w := newWorld(t, "s1")
	w.later("s1", "one")
	copied := w.list("s1")
	two := w.later("s1", "two")
	must(t, w.Revoke(t.Context(), "s1", two))
	must(t, os.WriteFile(w.path("s1", "pending.json"), slices.Concat(copied[:2], []byte("  \n"), copied[2:]), 0o600))
	var log bytes.Buffer
	w.reopen(dispatch.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	w.agent.set(busy)
	for range 2 {
		_, err := w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
		wantIs(t, err, adapter.ErrBusy)
		w.reopen(dispatch.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	}
	if n := strings.Count(log.String(), "queue replaced"); n != 1 {
		t.Fatalf("got %s, want it told once", log.String())
	}
	wantEqual(t, "owed", w.pending("s1"), w.sent("s1")[:1])
}

// A copy that was put back where nothing was owed any more hands nothing over.
func TestOlderQueueOfNothing(t *testing.T) {
	w := newWorld(t, "s1")
	for i := range 3 {
		w.later("s1", strconv.Itoa(i))
	}
	copied := w.list("s1")
	_, err := w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
	must(t, err)
	got := w.agent.mids()
	for range 2 {
		must(t, os.WriteFile(w.path("s1", "pending.json"), copied, 0o600))
		_, err := w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
		must(t, err)
		wantEqual(t, "agent", w.agent.mids(), got)
	}
}

// Where nothing but removals came since, the copy is as long as the queue, and a process
// that knows that file looks no further than to where it has come.
func TestOlderQueueOfTheSameLength(t *testing.T) {
	for way, put := range putBack {
		for who, roles := range map[string]func(w *world) (drains, goesOn *dispatch.Dispatcher){
			"the same":         func(w *world) (_, _ *dispatch.Dispatcher) { return w.Dispatcher, w.Dispatcher },
			"fresh":            func(w *world) (_, _ *dispatch.Dispatcher) { return w.Dispatcher, w.beside(dispatch.Options{}) },
			"one that knew it": func(w *world) (_, _ *dispatch.Dispatcher) { return w.beside(dispatch.Options{}), w.Dispatcher },
		} {
			t.Run(way+"/"+who, func(t *testing.T) {
				w := newWorld(t)
				w.buffered = true // an entry is claimed in the hold in which it is seen
				w.reopen(dispatch.Options{})
				w.create("s1")
				for i := range 5 {
					w.later("s1", strconv.Itoa(i))
				}
				copied := w.list("s1")
				left := 3
				w.agent.set(func(adapter.Prompt) error {
					if left--; left < 0 {
						return adapter.ErrBusy
					}
					return nil
				})
				drains, goesOn := roles(w)
				_, err := drains.Drain(t.Context(), "s1", dispatch.DrainOptions{})
				wantIs(t, err, adapter.ErrBusy)
				if now := w.list("s1"); len(now) != len(copied) {
					t.Fatalf("got %d bytes, want %d", len(now), len(copied))
				}
				must(t, put(w.path("s1", "pending.json"), copied))
				w.agent.set(nil)
				_, err = goesOn.Drain(t.Context(), "s1", dispatch.DrainOptions{})
				if errors.Is(err, queue.ErrCorrupt) { // it sees only at the end what stands before
					_, err = goesOn.Drain(t.Context(), "s1", dispatch.DrainOptions{})
				}
				must(t, err)
				wantEqual(t, "agent", w.agent.mids(), w.sent("s1"))
				wantEqual(t, "owed", w.pending("s1"), nil)
			})
		}
	}
}

// A program that takes entries off the front, and tells nobody, is believed: what it
// took does not come back, with whatever docket does meanwhile.
func TestForeignDrainerIsBelieved(t *testing.T) {
	w := newWorld(t, "s1")
	for i := range 4 {
		w.later("s1", strconv.Itoa(i))
	}
	sent := w.sent("s1")
	lines := strings.SplitAfter(string(w.list("s1")), "\n")
	for name, rest := range map[string]string{
		"in its own form": `[` + strings.Join(lines[2:5], "") + `]`,
		"in docket's":     lines[0] + strings.Join(lines[2:], ""),
	} {
		t.Run(name, func(t *testing.T) {
			must(t, os.WriteFile(w.path("s1", "pending.json"), []byte(rest), 0o600))
			w.reopen(dispatch.Options{})
			last := w.later("s1", "last")
			wantEqual(t, "owed", w.pending("s1"), append(sent[1:4:4], last))
			must(t, w.Revoke(t.Context(), "s1", last))
		})
	}
	must(t, os.Remove(w.path("s1", "pending.json")))
	_, err := w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
	must(t, err)
	wantEqual(t, "agent", w.agent.mids(), nil)
}

// Any copy is put back after any operations, and whatever follows.
func TestAnyQueueIsPutBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		w.buffered = true
		w.reopen(dispatch.Options{})
		w.create("s1")
		m := &model{revoked: map[string]bool{}, keys: map[string]string{}}
		var copies [][]byte
		n := 0
		send := func(*rapid.T) { n++; m.accept(w.later("s1", "message "+strconv.Itoa(n))) }
		revoke := func(rt *rapid.T) {
			if len(m.owed) > 0 {
				i := rapid.IntRange(0, len(m.owed)-1).Draw(rt, "which")
				must(w.t, w.Revoke(t.Context(), "s1", m.owed[i]))
				m.revoke(i)
			}
		}
		some := func(rt *rapid.T) {
			end := rapid.SampledFrom([]error{adapter.ErrBusy, errors.New("lost")}).Draw(rt, "end")
			drain(rt, w, m, rapid.IntRange(0, 4).Draw(rt, "taken"), end)
		}
		confirm := func(rt *rapid.T) { decide(rt, w, m, rapid.Bool().Draw(rt, "absent")) }
		rt.Repeat(map[string]func(*rapid.T){
			"send": send, "send another": send, "drain": some, "revoke": revoke, "confirm": confirm,
			"reopen": func(*rapid.T) { w.reopen(dispatch.Options{}) },
			"copy": func(*rapid.T) {
				if len(m.owed) > 0 {
					copies = append(copies, w.list("s1"))
				}
			},
			"put back": func(rt *rapid.T) {
				if len(copies) == 0 {
					return
				}
				way := rapid.SampledFrom([]string{"written over", "renamed"}).Draw(rt, "way")
				i := rapid.IntRange(0, len(copies)-1).Draw(rt, "copy")
				must(t, putBack[way](w.path("s1", "pending.json"), copies[i]))
				w.reopen(dispatch.Options{})
				next := rapid.IntRange(0, 3).Draw(rt, "next")
				if len(m.owed) == 0 {
					next %= 2 // there is nothing to decide about
				}
				[]func(*rapid.T){send, some, revoke, confirm}[next](rt)
			},
			"": func(rt *rapid.T) { m.check(rt, w) },
		})
	})
}
