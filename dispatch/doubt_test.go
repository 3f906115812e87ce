package dispatch_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/lock/step"
)

// at runs do when the named step is reached for the first time.
func at(t *testing.T, name string, do func()) {
	t.Helper()
	restore := step.Hook(func(reached string) {
		if reached == name && do != nil {
			do()
			do = nil
		}
	})
	t.Cleanup(restore)
}

// block puts a directory where the queue file has to go, so that no debt can be
// written; the returned function takes it away.
func (w *world) block(id string) (unblock func()) {
	path := w.path(id, "pending.json")
	must(w.t, os.MkdirAll(path+"/in the way", 0o700))
	return func() { must(w.t, os.RemoveAll(path)) }
}

// A keyed message whose debt could not be written is in doubt, and lands once as
// soon as it can be.
func TestKeyedMessageWithoutItsDebtLandsLater(t *testing.T) {
	w := newWorld(t, "s1")
	var unblock func()
	at(t, "dispatch: recorded", func() { unblock = w.block("s1") })
	m := dispatch.Message{Text: "important", Key: "k"}
	a, err := w.SendText(t.Context(), "s1", m)
	wantIs(t, err, dispatch.ErrInDoubt)
	if !strings.Contains(err.Error(), a.MID) || a.MID == "" {
		t.Fatalf("got %v, want the message named", err)
	}
	unblock()
	again := w.send("s1", m)
	if !again.Replayed || again.MID != a.MID || !again.Delivered {
		t.Fatalf("got %+v, want the first message delivered", again)
	}
	wantEqual(t, "agent", w.agent.mids(), []string{a.MID})
	wantEqual(t, "timeline", w.sent("s1"), []string{a.MID})
}

// An unkeyed one is taken back, so that sending it again does not double it.
func TestUnkeyedMessageWithoutItsDebtIsRevoked(t *testing.T) {
	w := newWorld(t, "s1")
	var unblock func()
	at(t, "dispatch: recorded", func() { unblock = w.block("s1") })
	a, err := w.SendText(t.Context(), "s1", dispatch.Message{Text: "important"})
	if err == nil || errors.Is(err, dispatch.ErrInDoubt) {
		t.Fatalf("got %v, want a plain refusal", err)
	}
	unblock()
	again := w.send("s1", dispatch.Message{Text: "important"})
	wantEqual(t, "agent", w.agent.mids(), []string{again.MID})
	if c := w.condition("s1", a.MID); c != dispatch.Revoked {
		t.Fatalf("got %s, want revoked", c)
	}
}

// What cannot be noted as complete is in doubt, and says which message it is.
func TestUnnotedSendIsInDoubt(t *testing.T) {
	w := newWorld(t, "s1")
	at(t, "dispatch: owed", func() { must(t, w.Close()) }) // the lock file is closed under the sender
	a, err := w.SendText(t.Context(), "s1", dispatch.Message{Text: "important", NoDrain: true})
	wantIs(t, err, dispatch.ErrInDoubt)
	w.reopen(dispatch.Options{})
	wantEqual(t, "owed", w.pending("s1"), []string{a.MID})
}

func TestNothingIsDeliveredWithoutItsLine(t *testing.T) {
	for name, ruin := range map[string]func(path string) error{
		"removed": os.Remove,
		"emptied": func(path string) error { return os.Truncate(path, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "s1")
			mid := w.later("s1", "one")
			must(t, ruin(w.path("s1", "timeline/000000000001.ndjson")))
			w.reopen(dispatch.Options{})
			_, err := w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
			wantIs(t, err, dispatch.ErrUnrecorded)
			wantEqual(t, "agent", w.agent.mids(), nil)
			wantDisagreement(t, w, mid, dispatch.ErrUnrecorded)
		})
	}
}

// rewrite changes the queue file as an editor would.
func (w *world) rewrite(id, from, to string) {
	w.t.Helper()
	path := w.path(id, "pending.json")
	content, err := os.ReadFile(path)
	must(w.t, err)
	changed := bytes.Replace(content, []byte(from), []byte(to), 1)
	if bytes.Equal(changed, content) {
		w.t.Fatalf("%q is not in %s", from, content)
	}
	must(w.t, os.Remove(path))
	must(w.t, os.WriteFile(path, changed, 0o600))
	w.reopen(dispatch.Options{})
}

func wantDisagreement(t *testing.T, w *world, mid string, want error) {
	t.Helper()
	all, err := w.Disagreements(t.Context(), "s1")
	must(t, err)
	for _, d := range all {
		if d.MID == mid && errors.Is(d, want) {
			return
		}
	}
	t.Fatalf("got %v, want message %s: %v", all, mid, want)
}

// Repair takes the bytes of the timeline, whatever happened to those of the queue.
func TestRepairRestoresWhatWasAccepted(t *testing.T) {
	for name, tt := range map[string]struct{ from, to string }{
		"another text": {`"text":"one"`, `"text":"One"`},
		"another mid":  {`{"mid":"0`, `{"mid":"1`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "s1")
			mid := w.later("s1", "one")
			w.rewrite("s1", tt.from, tt.to)
			planned, err := w.PlanRepair(t.Context(), "s1")
			must(t, err)
			done, err := w.Repair(t.Context(), "s1")
			must(t, err)
			wantEqual(t, "planned", planned.Restored, []string{mid})
			wantEqual(t, "restored", done.Restored, planned.Restored)
			_, err = w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
			must(t, err)
			if got := w.agent.last(); len(w.agent.mids()) != 1 || got.MID != mid || got.Text != "one" {
				t.Fatalf("got %+v, want the message as it was accepted", w.agent.got)
			}
		})
	}
}

func TestDisagreementsAreNamed(t *testing.T) {
	w := newWorld(t, "s1")
	mid := w.later("s1", "one")
	path := w.path("s1", "pending.json")
	content, err := os.ReadFile(path)
	must(t, err)

	all, err := w.Disagreements(t.Context(), "s1")
	must(t, err)
	if len(all) > 0 {
		t.Fatalf("got %v, want none", all)
	}
	must(t, os.Remove(path))
	wantDisagreement(t, w, mid, dispatch.ErrForgotten)
	_, err = w.Repair(t.Context(), "s1")
	must(t, err)
	_, err = w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
	must(t, err)
	must(t, os.WriteFile(path, content, 0o600)) // another writer's stale copy
	w.reopen(dispatch.Options{})
	wantDisagreement(t, w, mid, dispatch.ErrEnded)
	done, err := w.Repair(t.Context(), "s1")
	must(t, err)
	wantEqual(t, "dropped", done.Dropped, []string{mid})
	if len(done.Unrecorded) > 0 {
		t.Errorf("got %+v, want nothing that the timeline holds", done.Unrecorded)
	}
	wantEqual(t, "owed", w.pending("s1"), nil)
}

// What only the queue holds, as damage took its line and another message has its place,
// is dropped by a repair and given back whole.
func TestRepairGivesBackWhatOnlyTheQueueHolds(t *testing.T) {
	w := newWorld(t, "s1")
	first, lost := w.later("s1", "one"), w.later("s1", "the only copy")
	path := w.path("s1", "timeline/000000000001.ndjson")
	content, err := os.ReadFile(path)
	must(t, err)
	must(t, os.Truncate(path, int64(bytes.LastIndexByte(content[:len(content)-1], '\n')+1)))
	w.reopen(dispatch.Options{})
	third := w.later("s1", "three")

	done, err := w.Repair(t.Context(), "s1")
	must(t, err)
	wantEqual(t, "dropped", done.Dropped, []string{lost})
	if len(done.Unrecorded) != 1 || done.Unrecorded[0].MID != lost || done.Unrecorded[0].Text != "the only copy" {
		t.Errorf("got %+v, want the message as it was accepted", done.Unrecorded)
	}
	wantEqual(t, "owed", w.pending("s1"), []string{first, third})
	again, err := w.Repair(t.Context(), "s1")
	must(t, err)
	if again.Changes() || len(again.Unrecorded) > 0 {
		t.Errorf("got %+v, want nothing left to do", again)
	}
}
