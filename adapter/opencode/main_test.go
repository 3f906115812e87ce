package opencode_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/adaptertest/realagent"
	"github.com/docket-go/docket/adapter/opencode"
	"github.com/docket-go/docket/lock/step"
)

// The test binary runs itself as a process that hands over one prompt and dies.
const childVariable = "OPENCODE_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		insertAndDie(os.Args[1:])
		return
	}
	realagent.Isolate()
	os.Exit(m.Run())
}

// patience bounds every wait of a test for something that must happen: a real opencode on
// a busy machine takes its time.
const patience = 3 * time.Minute

// insertAndDie kills its process inside Insert at the step that it is told.
func insertAndDie(args []string) {
	at, url, dir, mid, text := args[0], args[1], args[2], args[3], args[4]
	step.Hook(func(name string) {
		if name == at {
			killSelf()
		}
	})
	a, err := opencode.New(adapter.Session{ID: "s1", Dir: dir}, opencode.Options{URL: url, Timeout: patience})
	if err == nil {
		err = a.Insert(context.Background(), adapter.Prompt{MID: mid, Session: "s1", Text: text})
	}
	fmt.Println("survived", err)
}

func killSelf() {
	if p, err := os.FindProcess(os.Getpid()); err != nil || p.Kill() != nil {
		panic("cannot die")
	}
	select {}
}

// dieInside has a child hand over a prompt and die at a step.
func dieInside(t *testing.T, at, url, dir, mid, text string) {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), binary, at, url, dir, mid, text)
	cmd.Env = append(os.Environ(), childVariable+"=1")
	out, err := cmd.CombinedOutput()
	var died *exec.ExitError
	if !errors.As(err, &died) || len(out) > 0 {
		t.Fatalf("%s: child: got %q, %v, want it killed there", at, out, err)
	}
}

func open(t testing.TB, dir string, o opencode.Options) *opencode.Adapter {
	t.Helper()
	o.Timeout = cmp.Or(o.Timeout, patience)
	a, err := opencode.New(adapter.Session{ID: "s1", Dir: dir}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	return a
}

func prompt(mid, text string) adapter.Prompt {
	return adapter.Prompt{MID: mid, Session: "s1", Text: text}
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}
