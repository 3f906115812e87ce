//go:build linux || darwin

package oneshot_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/adaptertest"
	"github.com/docket-go/docket/adapter/adaptertest/hosttest"
	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/adapter/oneshot"
)

// escape makes a session of the command, out of the reach of its parent's group.
func escape(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// A desk is where the test binary, as a program, notes each prompt that it works on, and
// finds what else to do.
type desk struct{ hosttest.Desk }

func playDesk(dir string) int { return desk{hosttest.Desk{Dir: dir}}.work() }

// work is the program: it speaks as Codex does.
func (d desk) work() int {
	data, _ := io.ReadAll(os.Stdin)
	fmt.Println(threadStarted)
	switch {
	case d.Is("refuse"):
		return 1
	case d.Is("hang"):
		_ = d.Set("begun")
		select {}
	}
	d.Note("received", string(data))
	fmt.Println(turnStarted)
	if string(data) == "die" {
		return 3
	}
	fmt.Println(said("ACK"))
	fmt.Println(turnCompleted)
	return 0
}

// serve runs the program behind a host and returns how prompts get to it.
func serve(t *testing.T) (desk, *hosttest.Recorder, hosttest.Patient) {
	t.Helper()
	d := desk{hosttest.Desk{Dir: t.TempDir()}}
	r, a := hosttest.Serve(t, oneshot.Kind, d.start(), adapter.Absent)
	return d, r, a
}

// start starts the program.
func (d desk) start() host.Starter {
	return oneshot.Starter(oneshot.Codex, host.ProcessOptions{
		Args:  []string{os.Args[0]},
		Env:   append(os.Environ(), "ONESHOT_TEST_DESK="+d.Dir, "GORACE=atexit_sleep_ms=0"),
		Grace: 10 * time.Millisecond,
	}, oneshot.Options{})
}

func TestConformance(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T) adaptertest.Harness {
		d, _, a := serve(t)
		return d.Harness(a, func() ([]string, error) { return hosttest.Notes[string](d.Desk, "received") })
	})
}

// TestBehindAHost runs turns of which one has no end: the agent itself stays.
func TestBehindAHost(t *testing.T) {
	_, r, a := serve(t)
	texts := []string{"one", "die", "two"}
	for _, text := range texts {
		if err := a.Insert(t.Context(), adapter.Prompt{MID: text, Session: "s1", Text: text}); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	ends := r.Await(t, len(texts), nil)
	if ends[0].Outcome != host.Success || ends[1].Code != host.CodeAgentExited || ends[2].Outcome != host.Success {
		t.Errorf("got %+v, want success, agent_exited, success", ends)
	}
}
