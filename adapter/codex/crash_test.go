//go:build linux || darwin

package codex_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/adaptertest/hosttest"
	"github.com/docket-go/docket/adapter/codex"
	"github.com/docket-go/docket/adapter/host"
)

func init() { parts["start"] = startAndDie }

// startAndDie starts the program and kills itself at a step.
func startAndDie() int {
	hosttest.DieAt(os.Getenv("CODEX_TEST_STEP"))
	if _, err := startProgram(os.Getenv("CODEX_TEST_SESSION"), os.Getenv("CODEX_TEST_DIR")); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return 1
}

// startProgram starts the program for the session in that directory.
func startProgram(session, dir string) (host.Agent, error) {
	start := codex.Starter(host.ProcessOptions{
		Args: []string{os.Args[0]}, Env: append(os.Environ(), "CODEX_TEST_PART=program", "CODEX_TEST_DIR="+dir), Grace: 10 * time.Millisecond,
	}, codex.Options{})
	return start(context.Background(), &host.Seat{Session: adapter.Session{ID: "s1", Dir: session}})
}

// TestDeathBeforeTheFirstMessage leaves a thread that is gone on with, or none that is
// known.
func TestDeathBeforeTheFirstMessage(t *testing.T) {
	for name, want := range map[string]string{
		"adapter/codex: thread is made": "", "adapter/smallfile: codex-thread.json is drafted": "",
		"adapter/smallfile: codex-thread.json is in place": "t-1", "adapter/codex: thread is stored": "t-1",
	} {
		session, dir := t.TempDir(), t.TempDir()
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), "CODEX_TEST_PART=start", "CODEX_TEST_STEP="+name, "CODEX_TEST_SESSION="+session, "CODEX_TEST_DIR="+dir)
		if out, err := child.CombinedOutput(); err == nil || child.ProcessState.Exited() {
			t.Fatalf("%s: got %v, %s, want it killed", name, err, out)
		}
		if r, err := (codex.FileStore{Dir: session}).Load(); err != nil || r.Thread != want {
			t.Errorf("%s: got the thread %q, %v, want %q", name, r.Thread, err, want)
		}
		a, err := startProgram(session, dir)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s := hosttest.NewSink()
		if err := a.Submit(t.Context(), adapter.Prompt{MID: "m1", Text: "x"}, s); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		s.End(t)
		if r, err := (codex.FileStore{Dir: session}).Load(); err != nil || r.Thread != "t-1" || len(r.Earlier) != 0 {
			t.Errorf("%s: got %+v, %v, want the thread t-1 alone", name, r, err)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestStarterOfNoCodex starts what is not codex.
func TestStarterOfNoCodex(t *testing.T) {
	for _, args := range [][]string{{"docket-test-no-such-program"}, {os.Args[0], "-test.run=^$"}} {
		if _, err := codex.Starter(host.ProcessOptions{Args: args}, codex.Options{})(t.Context(), &host.Seat{}); err == nil {
			t.Errorf("%q: got no error, want one", args)
		}
	}
}
