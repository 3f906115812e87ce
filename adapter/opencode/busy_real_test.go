package opencode_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/opencode"
)

// realBusy holds a turn open: a message waits, or joins, and an interruption ends
// the turn.
func realBusy(t *testing.T, o *real) {
	dir := t.TempDir()
	waits := open(t, dir, opencode.Options{URL: o.url})
	joins := open(t, dir, opencode.Options{URL: o.url, Join: true})
	o.take(waits, prompt("m1", "one [[wait m1]]"))
	if s, err := waits.Probe(t.Context()); s != adapter.Busy || err != nil {
		t.Errorf("Probe: got %s, %v, want busy", s, err)
	}
	if err := waits.Insert(t.Context(), prompt("m2", "two")); !errors.Is(err, adapter.ErrBusy) {
		t.Errorf("Insert: got %v, want it busy", err)
	}
	for _, p := range []adapter.Prompt{prompt("m3", "three"), prompt("m4", "four")} {
		if err := joins.Insert(t.Context(), p); err != nil {
			t.Errorf("Insert: got %v, want it taken", err)
		}
	}
	o.model.Release("m1")
	o.idle()
	o.take(waits, prompt("m2", "two"))
	o.asked("one [[wait m1]]", "four", "two") // three is before four in that request
	requests := o.model.Requests()
	if users := strings.Join(requests[len(requests)-1].Users, ","); users != "one [[wait m1]],three,four,two" {
		t.Errorf("model: got texts %q, want all in order", users)
	}

	o.take(waits, prompt("m5", "five [[wait never]]"))
	o.begun(4)
	if err := waits.Interrupt(t.Context()); err != nil {
		t.Error(err)
	}
	o.idle()
	o.take(waits, prompt("m6", "six"))
	o.asked("one [[wait m1]]", "four", "two", "five [[wait never]]", "six")
	if err := waits.Interrupt(t.Context()); err != nil {
		t.Errorf("Interrupt without a turn: got %v, want nothing done", err)
	}
}

// realPermission has the model ask for a tool that opencode asks a person about.
func realPermission(t *testing.T, o *real) {
	project := t.TempDir()
	if err := os.WriteFile(filepath.Join(project, "opencode.json"), []byte(`{"permission":{"bash":"ask"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	a := open(t, t.TempDir(), opencode.Options{URL: o.url, Directory: project})
	o.take(a, prompt("m1", `one [[tool bash {"command":"echo hello","description":"says hello"}]]`))
	eventually(t, "it is blocked", func() bool {
		s, err := a.Probe(t.Context())
		return s == adapter.Blocked && strings.Contains(err.Error(), "permission")
	})
	if err := a.Insert(t.Context(), prompt("m2", "two")); !errors.Is(err, adapter.ErrBlocked) {
		t.Errorf("Insert: got %v, want it blocked", err)
	}
	if err := a.Interrupt(t.Context()); err != nil {
		t.Error(err)
	}
	o.take(a, prompt("m2", "two"))
	o.begun(2)
}

// realUnknownNames shows why Insert asks the server for its agents and models first.
func realUnknownNames(t *testing.T, o *real) {
	dir := t.TempDir()
	for _, wrong := range []opencode.Options{{URL: o.url, Agent: "nobody"}, {URL: o.url, Model: "stub/nothing"}} {
		err := open(t, dir, wrong).Insert(t.Context(), prompt("m1", "one"))
		if !errors.Is(err, adapter.ErrBlocked) || !strings.Contains(err.Error(), "set one of") {
			t.Errorf("%+v: got %v, want it blocked, with the names that there are", wrong, err)
		}
	}
	right := open(t, dir, opencode.Options{URL: o.url, Agent: "build", Model: "stub/stub", Directory: o.home.Work})
	o.take(right, prompt("m1", "one"))
	o.asked("one")
}
