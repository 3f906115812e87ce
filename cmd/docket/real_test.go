package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter/adaptertest/fakemodel"
	"github.com/docket-go/docket/adapter/adaptertest/realagent"
)

// realPatience bounds what a real program may take on a busy machine.
const realPatience = 3 * time.Minute

// A realHost is docket host with a real program.
type realHost struct {
	box
	cmd  *exec.Cmd
	said bytes.Buffer
}

func (b box) host(home *realagent.Home) *realHost {
	b.t.Helper()
	docket, err := exec.LookPath("docket")
	if err != nil {
		b.t.Fatal(err)
	}
	h := &realHost{box: b}
	args := append([]string{"--store", b.store(), "host", "s1", "--cwd", home.Work, "--", home.Path}, home.Program.ACP...)
	h.cmd = exec.Command(docket, args...)
	h.cmd.Env, h.cmd.Stderr = home.Env, &h.said
	if err := h.cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(h.end)
	return h
}

// end ends the host, as a person does.
func (h *realHost) end() {
	h.t.Helper()
	if h.cmd.ProcessState != nil {
		return
	}
	_ = h.cmd.Process.Signal(os.Interrupt)
	if err := h.cmd.Wait(); err != nil {
		h.t.Errorf("docket host: %v: %s", err, &h.said)
	}
}

// A realEvent is an event of docket turns.
type realEvent struct {
	Kind, Turn, Outcome, Text, State, Permission, Cursor string
	Options                                              []string
	Native                                               struct{ Session string }
}

// next returns the first event of that kind and state behind the cursor; an empty state
// means any.
func (h *realHost) next(after, kind, state string) realEvent {
	h.t.Helper()
	end := time.After(realPatience)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	args := []string{"turns", "s1", "--json"}
	if after != "" {
		args = append(args, "--after", after)
	}
	for {
		out := h.must(args...)
		for line := range strings.Lines(out) {
			var e realEvent
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				h.t.Fatal(err)
			}
			if e.Kind == kind && (state == "" || e.State == state) {
				return e
			}
		}
		select {
		case <-tick.C:
		case <-end:
			h.t.Fatalf("got the turns %s, want %s %s", out, kind, state)
		}
	}
}

// A real agent behind a host takes what is owed, its turns are recorded, and it goes on
// with its session after both were ended.
func TestReal(t *testing.T) {
	if testing.Short() {
		t.Skip("a real program takes its time: run without -short")
	}
	for _, p := range []realagent.Program{realagent.ACPExample, realagent.OpenCode} {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			model, err := fakemodel.Start(fakemodel.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer model.Close()
			home := realagent.New(t, p, model.URL())
			b := newBox(t)
			b.must("new", "s1", "--adapter", "acp")
			b.must("send", "s1", "say hello")
			h := b.host(home)
			if p.Name == realagent.ACPExample.Name { // it asks each time
				asked := h.next("", "permission", "asked")
				b.must("permit", "s1", asked.Permission, asked.Options[0])
				h.next(asked.Cursor, "permission", "granted")
			}
			first := h.next("", "turn-finished", "")
			h.end()
			if first.Outcome != "success" {
				t.Errorf("got the outcome %q, want success: %s", first.Outcome, b.must("turns", "s1"))
			}
			if turns := model.Turns(); p.Name == realagent.OpenCode.Name && (len(turns) != 1 || !strings.HasPrefix(turns[0], "say hello")) {
				t.Errorf("model: got %q, want the message", turns)
			}
			if p.Name == realagent.OpenCode.Name {
				before := h.next("", "text", "").Native.Session
				b.must("send", "s1", "again")
				h := b.host(home)
				if again := h.next(first.Cursor, "text", ""); again.Native.Session != before || !strings.Contains(again.Text, "ACK again") {
					t.Errorf("got %+v, want an answer in the agent's session %s", again, before)
				}
				h.next(first.Cursor, "turn-finished", "")
			}
			if said := b.must("verify", "s1"); said != "s1: no fault\n" {
				t.Errorf("got %q, want no fault", said)
			}
		})
	}
}
