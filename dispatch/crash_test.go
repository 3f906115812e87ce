package dispatch_test

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/docket-go/docket/dispatch"
)

// A child dies by SIGKILL at each step of an operation in turn. After each death
// the next process goes on from the files alone: what was accepted before is
// delivered once, in order, and a keyed retry of the dead send lands exactly once.
func TestDeathAtEveryStep(t *testing.T) {
	for _, tt := range []struct {
		name, role, key string
		min             int // steps that must at least have been died at
	}{
		{"plain send", "send-1", "", 6},
		{"keyed send", "send-1", "the key", 6},
		{"drain", "drain-1", "", 6},
		{"revoke", "revoke-1", "", 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			at := 1
			for dieAt(t, tt.role, tt.key, at) {
				at++
			}
			if at <= tt.min {
				t.Errorf("got %d steps, want at least %d", at-1, tt.min)
			}
		})
	}
}

// dieAt reports false once the operation has fewer steps than at.
func dieAt(t *testing.T, role, key string, at int) bool {
	t.Helper()
	w := newWorld(t)
	inbox := filepath.Join(t.TempDir(), "inbox")
	w.createFile("s1", inbox)
	var before []string
	for _, text := range []string{"one", "two", "three"} {
		before = append(before, w.later("s1", text))
	}
	must(t, w.Close())
	j := job{Store: w.dir, Session: "s1", Name: "four", Key: key, DieAt: at}
	cmd := command(t, role, j)
	var out bytes.Buffer
	cmd.Stdout = &out
	died := killed(t, cmd.Run())
	step := strings.TrimSpace(out.String())

	w.withFile()
	if key != "" {
		a := w.send("s1", dispatch.Message{Text: "four", Key: key, NoDrain: true})
		before = append(before, a.MID)
	}
	_, err := w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
	if err != nil {
		t.Fatalf("died at %q: %v", step, err)
	}
	recorded, got := w.sent("s1"), inboxMIDs(t, inbox)
	var want []string
	for _, mid := range recorded {
		if w.condition("s1", mid) == dispatch.Delivered {
			want = append(want, mid)
		}
	}
	if !slices.Equal(got, want) {
		t.Fatalf("died at %q: the agent has %v, the timeline says %v", step, got, want)
	}
	for _, mid := range before {
		if !slices.Contains(recorded, mid) || role != "revoke-1" && !slices.Contains(got, mid) {
			t.Fatalf("died at %q: message %s is lost: timeline %v, agent %v", step, mid, recorded, got)
		}
	}
	if slices.Sort(recorded); len(slices.Compact(recorded)) != len(w.sent("s1")) || len(recorded) > 4 {
		t.Fatalf("died at %q: got %v, want each message recorded once", step, recorded)
	}
	wantEqual(t, "owed", w.pending("s1"), nil)
	return died
}
