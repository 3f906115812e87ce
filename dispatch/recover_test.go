package dispatch_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/lock/step"
	"github.com/docket-go/docket/queue"
)

func (w *world) path(id, name string) string { return filepath.Join(w.dir, "sessions", id, name) }

// restart makes the files look as if the machine had restarted since.
func (w *world) restart(id string) {
	w.t.Helper()
	must(w.t, w.Close())
	path := w.path(id, "record.lock")
	content, err := os.ReadFile(path)
	must(w.t, err)
	fields := strings.Fields(string(content))
	content = bytes.Replace(content, []byte(fields[2]), []byte("00000000-0000-0000-0000-000000000000"), 1)
	must(w.t, os.WriteFile(path, content, 0o600))
	w.reopen(dispatch.Options{})
}

// After a power cut the queue file may be anything; what was accepted is owed
// again, in order, and what was settled or revoked is not.
func TestQueueIsRebuiltAfterAPowerCut(t *testing.T) {
	for name, damage := range map[string]func(path string, content []byte) error{
		"lost":    func(path string, _ []byte) error { return os.Remove(path) },
		"empty":   func(path string, _ []byte) error { return os.WriteFile(path, nil, 0o600) },
		"NULs":    func(path string, c []byte) error { return os.WriteFile(path, make([]byte, len(c)), 0o600) },
		"garbage": func(path string, _ []byte) error { return os.WriteFile(path, []byte("][{{"), 0o600) },
		"cut":     func(path string, c []byte) error { return os.WriteFile(path, c[:len(c)/2], 0o600) },
		"whole":   func(string, []byte) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "s1")
			delivered := w.send("s1", dispatch.Message{Text: "delivered"}).MID
			w.agent.set(busy)
			var want []string
			for _, text := range []string{"one", "two", "three"} {
				want = append(want, w.send("s1", dispatch.Message{Text: text, Key: "key of " + text}).MID)
			}
			revoked := w.later("s1", "revoked")
			must(t, w.Revoke(t.Context(), "s1", revoked))
			content, err := os.ReadFile(w.path("s1", "pending.json"))
			must(t, err)
			must(t, damage(w.path("s1", "pending.json"), content))
			w.restart("s1")

			wantEqual(t, "owed", w.pending("s1"), want)
			w.agent.set(nil)
			done, err := w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
			must(t, err)
			wantEqual(t, "delivered", done.Delivered, want)
			wantEqual(t, "agent", w.agent.mids(), append([]string{delivered}, want...))
		})
	}
}

// An entry whose line was lost in the power cut was promised to nobody, and is not
// delivered without its line.
func TestEntryWithoutItsLineGoesAfterAPowerCut(t *testing.T) {
	w := newWorld(t, "s1")
	w.agent.set(busy)
	kept := w.send("s1", dispatch.Message{Text: "kept"}).MID
	w.later("s1", "lost")
	log := w.path("s1", "timeline/000000000001.ndjson")
	content, err := os.ReadFile(log)
	must(t, err)
	content = content[:bytes.LastIndexByte(content[:len(content)-1], '\n')+1]
	must(t, os.WriteFile(log, content, 0o600))
	w.restart("s1")
	wantEqual(t, "owed", w.pending("s1"), []string{kept})
}

func TestRepairSetsADamagedQueueAside(t *testing.T) {
	w := newWorld(t, "s1")
	w.agent.set(busy)
	var want []string
	for _, text := range []string{"one", "two", "three"} {
		want = append(want, w.send("s1", dispatch.Message{Text: text}).MID)
	}
	path := w.path("s1", "pending.json")
	content, err := os.ReadFile(path)
	must(t, err)
	damaged := bytes.Replace(content, []byte(`"text":"two"`), []byte(`"text":"t`+"\x00"+`o"`), 1)
	must(t, os.WriteFile(path, damaged, 0o600))
	w.reopen(dispatch.Options{})
	_, err = w.SendText(t.Context(), "s1", dispatch.Message{Text: "refused"})
	wantIs(t, err, queue.ErrCorrupt)

	done, err := w.Repair(t.Context(), "s1")
	must(t, err)
	wantIs(t, done.Fault, queue.ErrCorrupt)
	wantEqual(t, "kept", done.Kept, []string{want[0], want[2]})
	wantEqual(t, "restored", done.Restored, []string{want[1]})
	aside, err := os.ReadFile(done.Aside)
	must(t, err)
	if !bytes.Equal(aside, damaged) {
		t.Fatalf("got %q aside, want the damaged file", aside)
	}
	wantEqual(t, "owed", w.pending("s1"), want)
	again, err := w.Repair(t.Context(), "s1")
	must(t, err)
	if again.Aside != "" || len(again.Restored)+len(again.Dropped) > 0 {
		t.Fatalf("got %+v, want nothing left to repair", again)
	}
}

// The very first message of a queue leaves no file when its sender dies between
// record and debt; readers and passes find it nevertheless.
func TestFirstDebtIsNotForgotten(t *testing.T) {
	for name, look := range map[string]func(w *world) []string{
		"pending": func(w *world) []string { return w.pending("s1") },
		"drain": func(w *world) []string {
			w.Drain(w.t.Context(), "s1", dispatch.DrainOptions{})
			return w.agent.mids()
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "s1")
			restore := step.Hook(func(name string) {
				if name == "dispatch: recorded" {
					panic("dead")
				}
			})
			func() {
				defer func() { recover() }()
				w.later("s1", "first")
			}()
			restore()
			w.reopen(dispatch.Options{})
			recorded := w.sent("s1")
			if len(recorded) != 1 {
				t.Fatalf("got %v, want the message recorded", recorded)
			}
			wantEqual(t, "found", look(w), recorded)
		})
	}
}
