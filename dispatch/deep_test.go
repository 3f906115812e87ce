package dispatch_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/queue"
)

// A deepWorld is a store with a session that is owed so much that its queue is not read
// as a whole: the mids, in order.
type deepWorld struct {
	*world
	mids []string
}

func newDeepWorld(t *testing.T) *deepWorld {
	w := &deepWorld{world: &world{t: t, dir: t.TempDir(), agent: &agent{}, buffered: true}}
	w.reopen(dispatch.Options{})
	w.create("s1")
	for range 40 {
		w.mids = append(w.mids, w.later("s1", strings.Repeat("word ", 500)))
	}
	return w
}

func (w *deepWorld) path() string { return filepath.Join(w.dir, "sessions", "s1", "pending.json") }

// spoil changes a letter in the entry of a message.
func (w *deepWorld) spoil(mid string) {
	w.t.Helper()
	data, err := os.ReadFile(w.path())
	must(w.t, err)
	at := bytes.Index(data, []byte(`"`+mid+`","text":"word`))
	if at < 0 {
		w.t.Fatalf("message %s is not in the queue", mid)
	}
	data[at+len(mid)+12]++
	must(w.t, os.WriteFile(w.path(), data, 0o600))
}

// In a deep queue too every message has the state that it has, wherever it stands.
func TestStatesInADeepQueue(t *testing.T) {
	w := newDeepWorld(t)
	left := 2
	w.agent.set(func(p adapter.Prompt) error {
		if left--; left < 0 {
			return vague(p)
		}
		return nil
	})
	must(t, w.Revoke(t.Context(), "s1", w.mids[20]))
	w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
	last := w.send("s1", dispatch.Message{Text: "the last"})
	if last.Pass == nil {
		t.Fatal("got nothing owed")
	}
	asked := []string{w.mids[0], w.mids[2], w.mids[3], w.mids[20], w.mids[39], last.MID, w.foreign("s1", 1), "unknown"}
	want := []dispatch.Condition{
		dispatch.Delivered, dispatch.Unconfirmed, dispatch.Owed, dispatch.Revoked, dispatch.Owed, dispatch.Owed, dispatch.Delivered, "",
	}
	got, err := w.States(t.Context(), "s1", asked)
	must(t, err)
	for i, mid := range asked {
		if got[mid].Condition != want[i] {
			t.Errorf("message %d: got %+v, want %q", i, got[mid], want[i])
		}
	}
	if s := got[w.mids[2]]; s.Attempts == 0 || s.LastError == "" || s.Handing {
		t.Errorf("got %+v, want its attempts and why", s)
	}
}

// What is damaged in a deep queue keeps nobody from learning of the message that was just
// sent, nor of the oldest. Of one that may be the damaged one, nothing is said.
func TestStateBesideDamageInADeepQueue(t *testing.T) {
	w := newDeepWorld(t)
	foreign := w.foreign("s1", 1)
	w.spoil(w.mids[20])
	last := w.later("s1", "the last")
	for _, mid := range []string{w.mids[0], w.mids[21], last} {
		if got := w.condition("s1", mid); got != dispatch.Owed {
			t.Errorf("message %s: got %s, want it owed", mid, got)
		}
	}
	for _, mid := range []string{w.mids[20], foreign, "unknown"} {
		_, err := w.State(t.Context(), "s1", mid)
		if !errors.Is(err, queue.ErrCorrupt) {
			t.Errorf("message %s: got %v, want ErrCorrupt", mid, err)
		}
	}
}

// The oldest message of a deep queue is taken back whatever stands behind it; another one
// only from a queue that makes sense.
func TestRevokeBesideDamageInADeepQueue(t *testing.T) {
	w := newDeepWorld(t)
	w.spoil(w.mids[20])
	must(t, w.Revoke(t.Context(), "s1", w.mids[0]))
	wantIs(t, w.Revoke(t.Context(), "s1", w.mids[30]), queue.ErrCorrupt)
	repaired, err := w.Repair(t.Context(), "s1")
	must(t, err)
	if len(repaired.Dropped) > 0 {
		t.Errorf("got %+v, want nothing in the queue that is at an end", repaired)
	}
	wantEqual(t, "owed", w.pending("s1"), w.mids[1:])
}

// A key that comes again finds its message in a deep queue, and is refused where that may
// be a damaged one.
func TestReplayInADeepQueue(t *testing.T) {
	w := newDeepWorld(t)
	m := dispatch.Message{Text: "once", Key: "k", NoDrain: true}
	mid := w.send("s1", m).MID
	w.later("s1", "behind it")
	before, err := os.ReadFile(w.path())
	must(t, err)
	if again := w.send("s1", m); again.MID != mid || !again.Replayed {
		t.Errorf("got %+v, want message %s again", again, mid)
	}
	after, err := os.ReadFile(w.path())
	must(t, err)
	if !bytes.Equal(before, after) {
		t.Error("got another queue than before")
	}
	damaged := bytes.Replace(after, []byte(`"`+mid+`","text":"once`), []byte(`"`+mid+`","text":"ones`), 1)
	must(t, os.WriteFile(w.path(), damaged, 0o600))
	_, err = w.SendText(t.Context(), "s1", m)
	wantIs(t, err, queue.ErrCorrupt)
}

// A hook that confirms each message while it is handed over drains a deep queue as well.
func TestConfirmedWithinADeepPass(t *testing.T) {
	w := newDeepWorld(t)
	hook := dispatch.New(w.store, dispatch.Options{Adapters: w.registry()})
	defer hook.Close()
	w.agent.set(func(p adapter.Prompt) error {
		_, err := hook.Confirm(t.Context(), p.Session, p.MID, false)
		return err
	})
	done, err := w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
	must(t, err)
	wantEqual(t, "delivered", done.Delivered, w.mids)
	if got := w.pending("s1"); len(got) > 0 {
		t.Errorf("got %v owed, want nothing", got)
	}
}

// A look of the sweeper at a session that waits minds the oldest message alone, unless it
// was the queue that stopped the deliveries.
func TestStandstillOfADamagedQueue(t *testing.T) {
	moved := func(w *deepWorld, end error, want bool) {
		t.Helper()
		if got, err := w.Moved("s1", end); got != want || err != nil {
			t.Errorf("after %v: got %t, %v, want %t", end, got, err, want)
		}
	}
	deep := newDeepWorld(t)
	deep.agent.set(busy)
	_, end := deep.Drain(t.Context(), "s1", dispatch.DrainOptions{})
	wantIs(t, end, adapter.ErrBusy)
	deep.spoil(deep.mids[20])
	moved(deep, end, false)
	must(t, deep.Revoke(t.Context(), "s1", deep.mids[0]))
	moved(deep, end, true)

	short := &deepWorld{world: newWorld(t, "s1")}
	for range 3 {
		short.mids = append(short.mids, short.later("s1", "words"))
	}
	short.spoil(short.mids[1])
	short.reopen(dispatch.Options{})
	_, end = short.Drain(t.Context(), "s1", dispatch.DrainOptions{})
	wantIs(t, end, queue.ErrCorrupt)
	moved(short, end, false)
	_, err := short.Repair(t.Context(), "s1")
	must(t, err)
	moved(short, end, true)
}

// BenchmarkState asks for the state of the newest message, as a send does, of the oldest
// and of one that is at an end, of so many that are owed.
func BenchmarkState(b *testing.B) {
	for _, depth := range []int{1, 100, 10_000} {
		w := owing(b, 0)
		ended := w.send("s1", dispatch.Message{Text: "run the tests and say what failed"}).MID
		oldest := w.later("s1", "run the tests and say what failed")
		for range depth - 1 {
			w.later("s1", "run the tests and say what failed")
		}
		newest := w.later("s1", "run the tests and say what failed")
		for _, of := range []struct{ name, mid string }{{"newest", newest}, {"oldest", oldest}, {"ended", ended}} {
			b.Run(fmt.Sprint("depth=", depth, "/", of.name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := w.State(b.Context(), "s1", of.mid); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
