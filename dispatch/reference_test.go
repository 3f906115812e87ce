package dispatch_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/docket-go/docket/dispatch"
)

const fixtures = "../timeline/testdata/"

// referenceWorld holds a copy of a session that the reference implementation
// wrote, with a file as its agent.
func referenceWorld(t *testing.T) (w *world, inbox string) {
	w = newWorld(t)
	must(t, os.CopyFS(filepath.Join(w.dir, "sessions", "ref-1"), os.DirFS(fixtures+"reference-session")))
	inbox = filepath.Join(t.TempDir(), "inbox")
	w.withFile()
	return w, inbox
}

// referencePending is what the reference implementation reads from the queue.
func referencePending(t *testing.T) (entries []struct{ MID, Text, From string }) {
	content, err := os.ReadFile(fixtures + "reference-session.expect.json")
	must(t, err)
	var expect struct {
		Pending []struct{ MID, Text, From string }
	}
	must(t, json.Unmarshal(content, &expect))
	for _, e := range expect.Pending {
		entries = append(entries, struct{ MID, Text, From string }(e))
	}
	return entries
}

func TestReferenceSessionIsOwedAndDrained(t *testing.T) {
	w, inbox := referenceWorld(t)
	want := referencePending(t)
	got, err := w.Pending(t.Context(), "ref-1")
	must(t, err)
	if len(got) != len(want) || len(want) == 0 {
		t.Fatalf("got %d entries, want %d", len(got), len(want))
	}
	var mids []string
	for i, e := range got {
		if e.MID != want[i].MID || e.Text != want[i].Text || e.From != want[i].From {
			t.Errorf("entry %d: got %+v, want %+v", i, e, want[i])
		}
		mids = append(mids, e.MID)
	}
	mine := w.later("ref-1", "appended by docket")
	done, err := w.Drain(t.Context(), "ref-1", dispatch.DrainOptions{Adapter: fileAgent(t, inbox)})
	must(t, err)
	wantEqual(t, "delivered", done.Delivered, append(mids, mine))
	wantEqual(t, "agent", inboxMIDs(t, inbox), done.Delivered)
	for _, mid := range done.Delivered {
		if c := w.condition("ref-1", mid); c != dispatch.Delivered {
			t.Errorf("message %s: got %s, want delivered", mid, c)
		}
	}
}

// A message that the reference implementation wrote and that is in no queue any
// more was handed over by it; repair must not owe it again.
func TestReferenceHistoryIsNotOwedAgain(t *testing.T) {
	w, _ := referenceWorld(t)
	before := w.pending("ref-1")
	done, err := w.Repair(t.Context(), "ref-1")
	must(t, err)
	if len(done.Restored)+len(done.Dropped) > 0 || done.Fault != nil {
		t.Fatalf("got %+v, want nothing to repair", done)
	}
	wantEqual(t, "owed", w.pending("ref-1"), before)
	if c := w.condition("ref-1", "legacy-3"); c != dispatch.Delivered {
		t.Fatalf("got %s, want delivered", c)
	}
}
