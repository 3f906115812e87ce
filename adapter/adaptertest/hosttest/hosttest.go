// Package hosttest is what the tests of drivers share: the two ends between which an
// agent of package host stands, and a program that a test plays.
//
// # What it keeps
//
// A [Sink] keeps what comes of one prompt, a [Recorder] what a broker has for the owner
// of a turn log, and a [Wire] what a program is sent that speaks JSON-RPC.
//
// # Guarantees
//
// Every wait is bounded by [Patience], and its end fails the test. Everything that is
// started has ended when the test has.
//
// # Crashes
//
// [DieAt] kills the process at a named step, in a child that the test starts.
//
// # Format
//
// A [Desk] is a directory by which a test and its program, the test binary once more,
// talk: a file that is there says what to do, a file of JSON values, one a line, what
// was done.
package hosttest

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/docket-go/docket/lock/step"
)

// Patience bounds every wait for something that must happen.
const Patience = time.Minute

// Receive takes a value from a channel, or its end, and fails the test if neither comes.
func Receive[V any](t testing.TB, what string, from <-chan V) (v V) {
	t.Helper()
	end := time.NewTimer(Patience)
	defer end.Stop()
	select {
	case v = <-from:
	case <-end.C:
		t.Fatalf("%s: got nothing, want it", what)
	}
	return v
}

// Eventually polls until something holds, and fails the test if it never does.
func Eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	end, tick := time.NewTimer(Patience), time.NewTicker(2*time.Millisecond)
	defer end.Stop()
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-end.C:
			t.Fatalf("got no end of waiting, want that %s", what)
		}
	}
}

// Equal compares two lists.
func Equal(t testing.TB, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\ngot  %q\nwant %q", what, got, want)
	}
}

// DieAt has this process kill itself, as kill -9 does, when it comes to that step.
func DieAt(name string) {
	step.Hook(func(at string) {
		if at == name {
			self, _ := os.FindProcess(os.Getpid())
			_ = self.Kill()
			select {}
		}
	})
}
