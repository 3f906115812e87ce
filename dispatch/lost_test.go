package dispatch_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/lock/step"
)

// spoil flips a bit in the one line of the log that has all the words.
func (w *world) spoil(id string, words ...string) {
	w.t.Helper()
	path := w.path(id, "timeline/000000000001.ndjson")
	content, err := os.ReadFile(path)
	must(w.t, err)
	spoiled := 0
lines:
	for line := range bytes.Lines(content) {
		for _, word := range words {
			if !bytes.Contains(line, []byte(word)) {
				continue lines
			}
		}
		line[2] ^= 1
		spoiled++
	}
	if spoiled != 1 {
		w.t.Fatalf("%d lines have %q, want one", spoiled, words)
	}
	must(w.t, errors.Join(w.Close(), os.WriteFile(path, content, 0o600)))
	w.reopen(dispatch.Options{})
}

// A retry owes its message again if the queue has lost it, and all others that are
// lost with it, in their order.
func TestRetryPutsBackWhatIsLost(t *testing.T) {
	w := newWorld(t, "s1")
	w.agent.set(busy)
	first := w.later("s1", "first")
	keyed := w.send("s1", dispatch.Message{Text: "keyed", Key: "k", NoDrain: true}).MID
	last := w.later("s1", "last")
	must(t, errors.Join(w.Close(), os.Remove(w.path("s1", "pending.json"))))
	w.reopen(dispatch.Options{})
	if a := w.send("s1", dispatch.Message{Text: "keyed", Key: "k", NoDrain: true}); !a.Replayed || a.MID != keyed {
		t.Fatalf("got %+v, want %s replayed", a, keyed)
	}
	wantEqual(t, "owed", w.pending("s1"), []string{first, keyed, last})
}

// Where the line that says how a message ended cannot be read any more, neither a
// retry nor a repair hands it over again by itself.
func TestMessageWhoseEndIsDamagedIsNotRepeated(t *testing.T) {
	for name, again := range map[string]func(w *world) error{
		"retry": func(w *world) error {
			_, err := w.SendText(w.t.Context(), "s1", dispatch.Message{Text: "once", Key: "k"})
			return err
		},
		"repair": func(w *world) error {
			done, err := w.Repair(w.t.Context(), "s1")
			wantEqual(w.t, "doubtful", done.Doubtful, done.Restored)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "s1")
			mid := w.send("s1", dispatch.Message{Text: "once", Key: "k"}).MID
			w.spoil("s1", "dispatch-settled")
			must(t, again(w))
			_, err := w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
			wantIs(t, err, adapter.ErrUnconfirmed)
			if s, err := w.State(t.Context(), "s1", mid); err != nil || s.Condition != dispatch.Unconfirmed || !strings.Contains(s.LastError, "cannot be read") {
				t.Fatalf("got %+v, %v, want it unconfirmed for what cannot be read", s, err)
			}
			wantEqual(t, "agent", w.agent.mids(), []string{mid})
			_, err = w.Confirm(t.Context(), "s1", mid, false)
			must(t, err)
			wantEqual(t, "owed", w.pending("s1"), nil)
		})
	}
}

// A damaged line before a message says nothing about it.
func TestDamageBeforeAMessageCastsNoDoubt(t *testing.T) {
	w := newWorld(t, "s1")
	w.send("s1", dispatch.Message{Text: "delivered"})
	w.agent.set(busy)
	mid := w.later("s1", "owed")
	must(t, os.Remove(w.path("s1", "pending.json")))
	w.spoil("s1", "dispatch-settled")
	done, err := w.Repair(t.Context(), "s1")
	must(t, err)
	if len(done.Doubtful) != 1 || done.Doubtful[0] == mid || len(done.Restored) != 2 {
		t.Fatalf("got %+v, want only the first one in doubt", done)
	}
}

// An entry whose line is lost keeps its place, although others have its sequence now.
func TestEntryWithoutItsLineKeepsItsPlace(t *testing.T) {
	w := newWorld(t, "s1")
	w.agent.set(busy)
	w.later("s1", "its sequence is the next one's")
	lost := w.later("s1", "lost")
	path := w.path("s1", "timeline/000000000001.ndjson")
	content, err := os.ReadFile(path)
	must(t, err)
	lines := bytes.SplitAfter(content, []byte("\n"))
	must(t, errors.Join(w.Close(), os.WriteFile(path, bytes.Join(lines[:1], nil), 0o600)))
	w.reopen(dispatch.Options{})
	next := w.later("s1", "next")
	_, err = w.Repair(t.Context(), "s1")
	must(t, err)
	wantEqual(t, "owed", w.pending("s1"), []string{lost, next})
	if wrong, err := w.Disagreements(t.Context(), "s1"); err != nil || len(wrong) != 1 || wrong[0].MID != lost {
		t.Fatalf("got %v, %v, want %s named alone", wrong, err, lost)
	}
}

// A person who decides and dies between the line that says so and the removal has
// decided: the message is not handed over.
func TestADecisionStandsThoughItsProcessDies(t *testing.T) {
	for name, decide := range map[string]func(w *world, mid string) error{
		"revoke": func(w *world, mid string) error { return w.Revoke(w.t.Context(), "s1", mid) },
		"confirm": func(w *world, mid string) error {
			_, err := w.Confirm(w.t.Context(), "s1", mid, false)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, head, behind := unconfirmed(t)
			w.agent.looks = func(string) adapter.Presence { return adapter.Absent }
			restore := step.Hook(func(name string) {
				if name == "dispatch: end recorded" {
					panic(errDied)
				}
			})
			func() {
				defer func() { recover() }()
				decide(w, head)
			}()
			restore()
			w.reopen(dispatch.Options{})
			_, err := w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
			must(t, err)
			wantEqual(t, "agent", w.agent.mids(), []string{behind})
		})
	}
}

// What another program made of an entry is put right by a repair: it is handed over as
// it was accepted, and what is known of its hand-over stays known.
func TestRepairPutsAnAlteredEntryRight(t *testing.T) {
	w, head, behind := unconfirmed(t)
	path := w.path("s1", "pending.json")
	content, err := os.ReadFile(path)
	must(t, err)
	altered := strings.NewReplacer(`"text":"did it arrive?"`, `"text":"evil"`, `"crc":`, `"was":`).Replace(string(content))
	must(t, errors.Join(w.Close(), os.WriteFile(path, []byte(altered), 0o600)))
	w.reopen(dispatch.Options{})
	wrong, err := w.Disagreements(t.Context(), "s1")
	if err != nil || len(wrong) != 1 || !errors.Is(wrong[0], dispatch.ErrAltered) {
		t.Fatalf("got %v, %v, want the head altered", wrong, err)
	}
	done, err := w.Repair(t.Context(), "s1")
	must(t, err)
	wantEqual(t, "restored", done.Restored, []string{head})
	wantEqual(t, "doubtful", done.Doubtful, nil)
	if c := w.condition("s1", head); c != dispatch.Unconfirmed {
		t.Fatalf("got %s, want it unconfirmed still", c)
	}
	_, err = w.Confirm(t.Context(), "s1", head, true)
	must(t, err)
	_, err = w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
	must(t, err)
	wantEqual(t, "agent", w.agent.mids(), []string{head, behind})
	if text := w.agent.got[0].Text; text != "did it arrive?" {
		t.Fatalf("the agent got %q", text)
	}
}
