package timeline_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/docket-go/docket/lock/step"
	"github.com/docket-go/docket/timeline"
)

const crashLines = 12

// crashMain is a process that appends and seals, and kills itself at the step with
// the given number.
func crashMain(dir string) int {
	var at, n int
	if _, err := fmt.Sscan(os.Getenv("TIMELINE_TEST_DIE_AT"), &at); err != nil {
		return 1
	}
	step.Hook(func(string) {
		if n++; n == at {
			killSelf()
		}
	})
	l, err := timeline.Open(dir, timeline.Options{SegmentBytes: 900})
	if err != nil {
		return 1
	}
	for i := range crashLines {
		w, err := l.Append(context.Background(), message(i), timeline.Settled{MID: message(i).MID})
		if err == nil && i%4 == 3 {
			_, err = l.Seal(context.Background())
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println(w.Next)
	}
	return 0
}

// A writer dies at each of its steps. What it was told is accepted is there, what
// it was not is there whole or not at all, every cursor that it was given leads on,
// and the next writer goes on.
func TestWriterDiesAtEachStep(t *testing.T) {
	for at := 1; ; at++ {
		dir := newDir(t)
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "TIMELINE_TEST_CRASH="+dir, fmt.Sprintf("TIMELINE_TEST_DIE_AT=%d", at))
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		checkAfterDeath(t, dir, at, parseCursors(t, out))
		if err == nil {
			return // it died nowhere: all steps are tried
		}
		if cmd.ProcessState.Exited() {
			t.Fatalf("step %d: the writer failed: %v", at, err)
		}
	}
}

func parseCursors(t *testing.T, out []byte) (cursors []timeline.Cursor) {
	t.Helper()
	for _, word := range strings.Fields(string(out)) {
		c, err := timeline.ParseCursor(word)
		if err != nil {
			t.Fatal(err)
		}
		cursors = append(cursors, c)
	}
	return cursors
}

func checkAfterDeath(t *testing.T, dir string, at int, accepted []timeline.Cursor) {
	t.Helper()
	l := buffered(t, dir, 900)
	before := all(t, l)
	if n := len(before); n < len(accepted) || n > len(accepted)+1 {
		t.Fatalf("step %d: %d accepted, %d in the log", at, len(accepted), n)
	}
	for i, e := range before {
		if want := message(i); e.MID != want.MID || e.Text != want.Text || e.Seq != uint64(i) {
			t.Fatalf("step %d: event %d is %+v", at, i, e)
		}
	}
	appendAll(t, l, timeline.Status{Status: "active"})
	if n := len(all(t, l)); n != len(before)+1 {
		t.Fatalf("step %d: %d events after the next append, want %d", at, n, len(before)+1)
	}
	for i, c := range accepted {
		n := 0
		for _, err := range l.From(t.Context(), c) {
			if n++; err != nil {
				t.Fatalf("step %d: cursor %d: %v", at, i, err)
			}
		}
		if n != len(before)-i {
			t.Fatalf("step %d: cursor %d leads to %d events, want %d", at, i, n, len(before)-i)
		}
	}
	if _, err := l.Seal(t.Context()); err != nil {
		t.Fatalf("step %d: %v", at, err)
	}
	if faults, err := l.Verify(t.Context()); err != nil || len(faults) > 0 {
		t.Fatalf("step %d: Verify: %v, %v", at, faults, err)
	}
}
