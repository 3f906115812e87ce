package dispatch_test

import (
	"os"
	"testing"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/lock/step"
	"github.com/docket-go/docket/timeline/session"
)

// diesAt does something in a process that dies at a step.
func (w *world) diesAt(name string, do func()) {
	w.t.Helper()
	restore := step.Hook(func(at string) {
		if at == name {
			panic(errDied)
		}
	})
	func() {
		defer func() {
			if r := recover(); r != nil && r != errDied {
				panic(r)
			}
		}()
		do()
		w.t.Fatalf("never came to %q", name)
	}()
	restore()
	w.reopen(dispatch.Options{})
}

// A sender of which only the mark of its close is there, because the close died, is
// closed: it can send no more, here or to itself.
func TestHalfClosedSenderIsClosed(t *testing.T) {
	w := newWorld(t, "s1", "lead")
	w.diesAt("session: marked as closed", func() {
		lead, err := w.store.Open("lead")
		must(t, err)
		must(t, lead.Close(t.Context()))
	})
	for _, to := range []string{"s1", "lead"} {
		_, err := w.SendText(t.Context(), to, dispatch.Message{Text: "too late", From: "lead"})
		wantIs(t, err, dispatch.ErrSenderClosed)
	}
	wantEqual(t, "timeline", w.sent("s1"), nil)
}

// What an operation promises, and what a harness gets, is on the disk by then. A
// sender that died before its sync leaves the sync to whoever promises or delivers.
func TestWhatIsPromisedIsSynced(t *testing.T) {
	if !seesSyncs() {
		t.Skip("the kernel does not say what is written back")
	}
	keyed := dispatch.Message{Text: "once", Key: "k", NoDrain: true}
	dead := func(w *world) {
		w.diesAt("dispatch: owed", func() { w.send("s1", keyed) })
	}
	for _, tt := range []struct {
		name   string
		before func(w *world)
		do     func(w *world) error
	}{
		{"send", nil, func(w *world) error { w.later("s1", "one"); return nil }},
		{"retry of a dead sender's", dead, func(w *world) error { w.send("s1", keyed); return nil }},
		{"hand-over of a dead sender's", dead, func(w *world) error {
			_, err := w.Drain(w.t.Context(), "s1", dispatch.DrainOptions{})
			return err
		}},
		{"settlement of a keyed one", func(w *world) { w.send("s1", keyed) }, func(w *world) error {
			_, err := w.Drain(w.t.Context(), "s1", dispatch.DrainOptions{})
			return err
		}},
		{"revocation", nil, func(w *world) error { return w.Revoke(w.t.Context(), "s1", w.later("s1", "one")) }},
		{"confirmation", nil, func(w *world) error {
			w.agent.set(vague)
			mid := w.send("s1", dispatch.Message{Text: "one"}).MID
			_, err := w.Confirm(w.t.Context(), "s1", mid, false)
			return err
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, "s1")
			log := w.path("s1", "timeline/000000000001.ndjson")
			w.agent.set(func(adapter.Prompt) error {
				if !onDisk(t, log) {
					t.Error("the harness got what is not on the disk")
				}
				return nil
			})
			if tt.before != nil {
				tt.before(w)
			}
			if err := tt.do(w); err != nil || !onDisk(t, log) {
				t.Fatalf("got %v, want it done and on the disk", err)
			}
		})
	}
}

// A message that another program takes out of the queue while it is being handed over
// is settled nevertheless: the harness has it.
func TestMessageTakenAwayDuringItsInsertIsSettled(t *testing.T) {
	w := newWorld(t, "s1")
	w.agent.set(func(adapter.Prompt) error { return os.Remove(w.path("s1", "pending.json")) })
	a := w.send("s1", dispatch.Message{Text: "once", Key: "k"})
	must(t, a.Pass)
	if c := w.condition("s1", a.MID); c != dispatch.Delivered || !a.Delivered {
		t.Fatalf("got %s and %+v, want it delivered", c, a)
	}
	done, err := w.Repair(t.Context(), "s1")
	must(t, err)
	wantEqual(t, "restored", done.Restored, nil)
}

// A leaver is an agent that does something when it is given up.
type leaver struct {
	*agent
	onClose func()
}

func (l *leaver) Close() error { l.onClose(); return nil }

// A message that is accepted after the pass has looked for the last time, and before
// it is at its end, finds the delivery lock free: nobody else would hand it over.
func TestMessageAcceptedAtTheVeryEndOfAPass(t *testing.T) {
	w := newWorld(t, "s1")
	var d *dispatch.Dispatcher
	var last dispatch.Accepted
	send := func(text string, noDrain bool) dispatch.Accepted {
		a, err := d.SendText(t.Context(), "s1", dispatch.Message{Text: text, NoDrain: noDrain})
		if err != nil {
			t.Error(err)
		}
		return a
	}
	d = dispatch.New(w.store, dispatch.Options{Adapters: adapter.Registry{{
		Name: "agent",
		Open: func(adapter.Session, map[string]string) (adapter.Adapter, error) {
			return &leaver{w.agent, func() {
				if last.MID == "" {
					last = send("the last one", false)
				}
			}}, nil
		},
	}}})
	defer d.Close()
	w.agent.set(func(p adapter.Prompt) error {
		if p.Text != "first" {
			return nil
		}
		// The adapter of this pass is replaced, so that it is closed when the pass leaves it.
		s, err := w.store.Open("s1")
		if err != nil {
			return err
		}
		defer s.Release()
		err = s.Update(t.Context(), func(r *session.Record) error {
			r.Settings = map[string]string{adapter.PolicySetting: "redeliver"}
			return nil
		})
		send("second", true)
		return err
	})
	must(t, send("first", false).Pass)
	if must(t, last.Pass); !last.Delivered {
		t.Errorf("got %+v, want it delivered", last)
	}
	wantEqual(t, "agent", w.agent.mids(), w.sent("s1"))
	wantEqual(t, "owed", w.pending("s1"), nil)
	if got := w.agent.mids(); len(got) != 3 || got[2] != last.MID {
		t.Fatalf("the agent got %v, want %s last", got, last.MID)
	}
}
