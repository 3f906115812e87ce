package dispatch_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/timeline/segment"
)

func init() { roles["send on"] = sendOn }

// One data sync fails, each in turn, in a process that goes on. The operation that
// it belonged to says that its message is in doubt, that it was not written as no new
// segment could be begun, or that a hand-over could not be recorded. The next one
// works, through the same Dispatcher, and in the end every message that was written
// was handed over once, in order.
func TestOneFailedSyncDisablesNothing(t *testing.T) {
	requireInjection(t)
	seen, injected := map[string]bool{}, true
	for n := 1; injected; n++ {
		w := newWorld(t)
		inbox := filepath.Join(t.TempDir(), "inbox")
		w.createFile("s1", inbox)
		must(t, w.Close())
		var said []string
		said, injected = failSync(t, w, n)
		failed := slices.DeleteFunc(slices.Clone(said), func(line string) bool { return strings.HasSuffix(line, ": ok, ok") })
		if len(said) != 5 || len(failed) > 1 || injected && len(failed) == 0 {
			t.Fatalf("sync %d: got %q, want at most one to fail", n, said)
		}
		written := 4
		for _, line := range failed {
			switch {
			case strings.Contains(line, "other"):
				t.Fatalf("sync %d: got %q, want it in doubt or unconfirmed", n, line)
			case strings.HasSuffix(line, ": faulted, ok"):
				written--
			}
			seen[line[strings.Index(line, ":"):]] = true
		}
		w.withFile()
		wantEqual(t, "owed", w.pending("s1"), nil)
		if recorded := w.sent("s1"); len(recorded) != written || !slices.Equal(inboxMIDs(t, inbox), recorded) {
			t.Fatalf("sync %d: the agent has %v of %v, want %d", n, inboxMIDs(t, inbox), recorded, written)
		}
		for _, mid := range w.sent("s1") {
			if c := w.condition("s1", mid); c != dispatch.Delivered {
				t.Fatalf("sync %d: message %s: got %s, want it delivered", n, mid, c)
			}
		}
	}
	if len(seen) != 3 {
		t.Fatalf("got %v, want each of the three ways to fail", seen)
	}
}

// failSync lets the n-th data sync of another process fail, and returns what it said.
func failSync(t *testing.T, w *world, n int) (said []string, injected bool) {
	t.Helper()
	trace := filepath.Join(t.TempDir(), "trace")
	cmd := command(t, "send on", job{Store: w.dir, Session: "s1", Name: "message", SegmentBytes: 700})
	traced := exec.Command("strace", "-f", "-qq", "-o", trace, "-e", "trace=fdatasync",
		"-e", fmt.Sprintf("inject=fdatasync:error=EIO:when=%d", n), cmd.Path)
	traced.Env = cmd.Env
	out, err := traced.CombinedOutput()
	if err != nil {
		t.Fatalf("sync %d: %v: %s", n, err, out)
	}
	calls, err := os.ReadFile(trace)
	must(t, err)
	return strings.Split(strings.TrimSpace(string(out)), "\n"), bytes.Contains(calls, []byte("INJECTED"))
}

// requireInjection skips the test where no system call can be made to fail.
func requireInjection(t *testing.T) {
	t.Helper()
	if out, err := exec.Command("strace", "-f", "-qq", "-o", os.DevNull, "-e", "inject=fdatasync:error=EIO:when=1", "true").CombinedOutput(); err != nil {
		t.Skipf("strace cannot inject faults here: %v: %s", err, out)
	}
}

// sendOn sends, goes on after each failure, and makes a last pass. All syncs are made
// by one thread, as they are counted by thread.
func sendOn(ctx context.Context, j job, d *dispatch.Dispatcher) error {
	runtime.LockOSThread()
	for i := range 4 {
		m := dispatch.Message{Text: fmt.Sprint(j.Name, i)}
		if i%2 == 0 {
			m.Key = m.Text
		}
		a, err := d.SendText(ctx, j.Session, m)
		fmt.Printf("%s: %s, %s\n", a.MID, outcome(err), outcome(a.Pass))
	}
	_, err := d.Drain(ctx, j.Session, dispatch.DrainOptions{})
	fmt.Printf("the rest: ok, %s\n", outcome(err))
	return nil
}

func outcome(err error) string {
	switch {
	case err == nil, errors.Is(err, lock.ErrBusy):
		return "ok"
	case errors.Is(err, dispatch.ErrInDoubt) && errors.Is(err, segment.ErrFaulted):
		return "in doubt"
	case errors.Is(err, adapter.ErrUnconfirmed):
		return "unconfirmed"
	case errors.Is(err, segment.ErrFaulted):
		return "faulted"
	}
	return "other: " + err.Error()
}
