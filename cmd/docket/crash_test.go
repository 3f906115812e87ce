package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

var sweepAll = flag.String("sweep", "thin", "how many of the deaths that testdata/sweep knows are died: thin or full")

// raceDetector says that it is compiled in, with what it costs in time and memory.
var raceDetector = func() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}()

// hurry is for programs with the race detector, which sleep for a second at their end.
const hurry = "GORACE=atexit_sleep_ms=0"

// The script testdata/sweep kills docket from outside at every system call that can
// change a file. A plain run of the tests takes a part of the deaths, which the script
// spreads over the operations; with -sweep=full it takes all.
func TestSweep(t *testing.T) {
	t.Parallel()
	canTrace(t)
	groups := [][]string{
		{"new", "send", "send-more", "rotate"}, {"send-keyed", "send-exec", "confirm", "close"},
		{"drain", "ask", "ask-watched", "revoke", "revoke-sender"}, {"drain-exec", "confirm-absent", "seal", "repair", "archive"},
	}
	every := "8"
	if *sweepAll == "full" {
		every = "1"
	}
	for _, operations := range groups {
		t.Run(operations[0], func(t *testing.T) {
			t.Parallel()
			docket, err := exec.LookPath("docket")
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("testdata/sweep", append([]string{docket, t.TempDir()}, operations...)...)
			cmd.Env = append(os.Environ(), hurry, "SWEEP_EVERY="+every)
			said, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, said)
			}
			if !strings.Contains(string(said), " passed, 0 failed\n") || strings.HasPrefix(string(said), "0 passed") {
				t.Errorf("got %q, want all passed", said)
			}
			t.Logf("%s", said)
		})
	}
}

// canTrace skips a test that needs strace where that is missing, or may not trace.
func canTrace(t *testing.T) {
	t.Helper()
	for _, program := range []string{"bash", "strace"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("needs %s", program)
		}
	}
	if out, err := exec.Command("strace", "-f", "-qq", "-o", os.DevNull, "-e", "inject=/^flock$:error=ENOLCK", "true").CombinedOutput(); err != nil {
		t.Skipf("strace cannot trace and inject here: %v: %s", err, out)
	}
}

// A box is a store, and what lies around it, for docket as a user runs it.
type box struct {
	t   *testing.T
	dir string // holds store and whatever else a test puts there
	env []string
}

func newBox(t *testing.T) box {
	t.Helper()
	return box{t, t.TempDir(), append(os.Environ(), hurry, "DOCKET_SESSION=", "DOCKET_HOME=")}
}

func (b box) store() string { return filepath.Join(b.dir, "store") }

// path is a path in the directory of a session.
func (b box) path(id string, name ...string) string {
	return filepath.Join(append([]string{b.store(), "sessions", id}, name...)...)
}

// An answer is what one run of docket said.
type answer struct {
	status   int
	out, err string
}

// hanging is how long a run may take before it counts as one that never ends.
const hanging = time.Minute

// docket runs docket on the store. It must come to an end, by itself.
func (b box) docket(args ...string) answer {
	b.t.Helper()
	return b.run("", append([]string{"docket", "--store", b.store()}, args...)...)
}

// run runs a program with a standard input, in the directory of the box.
func (b box) run(stdin string, argv ...string) answer {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), hanging)
	defer cancel()
	var out, complaints bytes.Buffer
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = b.dir, b.env, strings.NewReader(stdin), &out, &complaints
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		b.t.Fatalf("%v: %v", argv, err)
	}
	if ctx.Err() != nil {
		b.t.Fatalf("%v hangs; it said %q and %q", argv, &out, &complaints)
	}
	a := answer{cmd.ProcessState.ExitCode(), out.String(), complaints.String()}
	if a.status < 0 || a.status > 7 || strings.Contains(a.err, "goroutine ") {
		b.t.Errorf("%v broke down: %v: %.2000s", argv, cmd.ProcessState, a.err)
	}
	return a
}

// must runs docket where it has to succeed, and returns its standard output.
func (b box) must(args ...string) string {
	b.t.Helper()
	a := b.docket(args...)
	if a.status != statusDone {
		b.t.Fatalf("docket %q: got status %d, want %d: %s", args, a.status, statusDone, a.err)
	}
	return a.out
}
