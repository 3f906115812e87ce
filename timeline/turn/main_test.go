package turn_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/turn"
)

var now = time.Date(2026, 11, 30, 9, 30, 15, 780e6, time.UTC)

var (
	none    = turn.Native{}
	success = turn.Finished{Outcome: turn.Success}
	gone    = turn.Finished{Outcome: turn.Interrupted, Code: turn.CodeRuntimeRestart}
)

// newDir makes an empty session directory with the name s1.
func newDir(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "s1")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// open opens the log of dir for writing, without syncs unless the options are set.
func open(t testing.TB, dir string, set ...func(*turn.Options)) *turn.Writer {
	t.Helper()
	o := turn.Options{Buffered: true, Now: func() time.Time { return now }}
	for _, f := range set {
		f(&o)
	}
	w, err := turn.Open(context.Background(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func start(t testing.TB, w *turn.Writer, s turn.Started) *turn.Turn {
	t.Helper()
	tn, err := w.Start(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	return tn
}

func emit(t testing.TB, tn *turn.Turn, p turn.Emission) turn.Event {
	t.Helper()
	e, err := tn.Emit(context.Background(), none, p)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func finish(t testing.TB, tn *turn.Turn, f turn.Finished) turn.Event {
	t.Helper()
	e, err := tn.Finish(context.Background(), none, f)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func closeWriter(t testing.TB, w *turn.Writer) {
	t.Helper()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// read opens the log of dir for reading.
func read(t testing.TB, dir string) *turn.Log {
	t.Helper()
	l, err := turn.Read(dir, turn.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func cursor(t testing.TB, get func(context.Context) (timeline.Cursor, error)) timeline.Cursor {
	t.Helper()
	c, err := get(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// history reads the whole log of dir.
func history(t testing.TB, dir string) (events []turn.Event) {
	t.Helper()
	l := read(t, dir)
	for e, err := range l.History(context.Background(), cursor(t, l.Start)) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	return events
}

// brief says what events are, each in a word or two: the turn's number and the kind.
func brief(events []turn.Event) (words []string) {
	for _, e := range events {
		word := fmt.Sprintf("%d:%s", e.TurnNumber(), e.Kind())
		if f, ok := e.Payload.(turn.Finished); ok {
			word += " " + f.String()
		}
		words = append(words, word)
	}
	return words
}

// wantLog compares the log of dir with words as of brief.
func wantLog(t testing.TB, dir string, want ...string) {
	t.Helper()
	if got := brief(history(t, dir)); !slices.Equal(got, want) {
		t.Errorf("got the log\n%q, want\n%q", got, want)
	}
}

// eventually asks until ok is true, and fails after a minute.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	late := time.After(time.Minute)
	for !ok() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// parked reports whether a goroutine has all of these calls on its stack.
func parked(calls ...string) bool {
	var b strings.Builder
	if err := pprof.Lookup("goroutine").WriteTo(&b, 2); err != nil {
		return false
	}
	for _, stack := range strings.Split(b.String(), "\n\n") {
		if !slices.ContainsFunc(calls, func(call string) bool { return !strings.Contains(stack, call) }) {
			return true
		}
	}
	return false
}
