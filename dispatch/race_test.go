package dispatch_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/timeline/session"
)

// Senders and drainers of one session race as processes. Every mid that a sender
// was told of is once in the timeline and once at the agent, and the agent's order
// is the timeline's.
func TestRacingProcessesLoseAndDoubleNothing(t *testing.T) {
	runs := 20
	if testing.Short() {
		runs = 3
	}
	for range runs {
		race(t, 3, 2, 25)
	}
}

func race(t *testing.T, senders, drainers, count int) {
	t.Helper()
	w := newWorld(t)
	inbox := filepath.Join(t.TempDir(), "inbox")
	w.createFile("s1", inbox)
	var sending, draining []*exec.Cmd
	var outs []*bytes.Buffer
	for i := range senders {
		cmd := command(t, "send", job{Store: w.dir, Session: "s1", Name: string(rune('a' + i)), Count: count})
		var out bytes.Buffer
		cmd.Stdout = &out
		outs = append(outs, &out)
		must(t, cmd.Start())
		sending = append(sending, cmd)
	}
	var ends []io.Closer
	for range drainers {
		cmd := command(t, "drain", job{Store: w.dir, Session: "s1"})
		end, err := cmd.StdinPipe()
		must(t, err)
		must(t, cmd.Start())
		draining, ends = append(draining, cmd), append(ends, end)
	}
	for _, cmd := range sending {
		must(t, cmd.Wait())
	}
	for i, cmd := range draining {
		must(t, ends[i].Close())
		must(t, cmd.Wait())
	}
	_, err := w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
	must(t, err)
	var accepted []string
	for _, out := range outs {
		accepted = append(accepted, strings.Fields(out.String())...)
	}
	recorded, got := w.sent("s1"), inboxMIDs(t, inbox)
	wantEqual(t, "agent against timeline", got, recorded)
	slices.Sort(accepted)
	slices.Sort(recorded)
	wantEqual(t, "timeline against accepted", recorded, accepted)
	if len(accepted) != senders*count {
		t.Fatalf("got %d accepted, want %d", len(accepted), senders*count)
	}
	wantEqual(t, "owed", w.pending("s1"), nil)
}

// createFile makes a session whose agent is a file, so that other processes
// deliver to the same one.
func (w *world) createFile(id, path string) {
	w.t.Helper()
	s, err := w.store.Create(w.t.Context(), session.New{ID: id, Adapter: "file", Settings: map[string]string{"path": path}})
	must(w.t, err)
	must(w.t, s.Release())
	w.withFile()
}

func inboxMIDs(t testing.TB, path string) []string {
	t.Helper()
	content, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil
	}
	must(t, err)
	var mids []string
	for line := range bytes.Lines(content) {
		var p struct{ MID string }
		must(t, json.Unmarshal(line, &p))
		mids = append(mids, p.MID)
	}
	return mids
}
