package lock_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/docket-go/docket/lock"
)

func TestDeathInsideAChangeIsSeen(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir, lock.Options{})
	recovered(t, d)
	cmd := start(t, "die-inside", dir)
	cmd.Process.Kill()
	cmd.Wait()

	r := record(t, d)
	if !r.Interrupted() {
		t.Fatal("got a clean lock, want an interrupted one")
	}
	release(t, r)

	// A holder that cannot recover leaves the interruption to the next one, even
	// if it completes a change of its own.
	r = record(t, d)
	change(t, r)
	release(t, r)
	r = record(t, d)
	if !r.Interrupted() {
		t.Fatal("got a clean lock after a change, want it interrupted until Recovered")
	}
	if err := r.Recovered(); err != nil {
		t.Fatal(err)
	}
	release(t, r)
	if r = record(t, d); r.Interrupted() {
		t.Fatal("got an interrupted lock after Recovered")
	}
	release(t, r)
}

func TestReleaseWithoutDoneIsSeen(t *testing.T) {
	d := open(t, t.TempDir(), lock.Options{})
	if d.Interrupted() {
		t.Fatal("got an interruption where nobody ever locked")
	}
	recovered(t, d)
	if d.Interrupted() {
		t.Fatal("got an interruption after Recovered")
	}
	r := record(t, d)
	if err := r.Begin(); err != nil {
		t.Fatal(err)
	}
	release(t, r)
	if !d.Interrupted() {
		t.Fatal("got no interruption without the lock")
	}
	r = record(t, d)
	if !r.Interrupted() {
		t.Fatal("got a clean lock, want an interrupted one")
	}
	release(t, r)
}

func TestChangesNest(t *testing.T) {
	d := open(t, t.TempDir(), lock.Options{})
	recovered(t, d)
	r := record(t, d)
	before := r.Generation()
	for range 2 {
		if err := r.Begin(); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Done(); err != nil {
		t.Fatal(err)
	}
	release(t, r) // the outer change is not done
	r = record(t, d)
	if !r.Interrupted() || r.Generation() != before+1 {
		t.Fatalf("got interrupted %v, generation %d, want true, %d", r.Interrupted(), r.Generation(), before+1)
	}
	release(t, r)
}

func TestUnknownStateCountsAsInterrupted(t *testing.T) {
	for name, content := range map[string]string{
		"new":          "",
		"cut":          "clean 000000000000000",
		"NULs":         strings.Repeat("\x00", 64),
		"another boot": "clean 00000000000000000007 00000000-0000-0000-0000-000000000000\n",
		"no number":    "clean 0000000000000000000x 00000000-0000-0000-0000-000000000000\n",
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t, t.TempDir(), lock.Options{})
			if err := os.WriteFile(d.Path()+"/record.lock", []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			r := record(t, d)
			defer r.Release()
			if !r.Interrupted() || r.Restarted() != (name == "another boot") {
				t.Fatalf("got interrupted %v, restarted %v", r.Interrupted(), r.Restarted())
			}
		})
	}
}

// A holder that does not recover must not hide the restart from the next one.
func TestRestartIsSeenUntilRecovered(t *testing.T) {
	d := open(t, t.TempDir(), lock.Options{})
	old := "clean 00000000000000000007 00000000-0000-0000-0000-000000000000\n"
	if err := os.WriteFile(d.Path()+"/record.lock", []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r := record(t, d)
		if !r.Restarted() {
			t.Fatal("got no restart")
		}
		change(t, r)
		release(t, r)
	}
	recovered(t, d)
	r := record(t, d)
	defer r.Release()
	if r.Interrupted() || r.Restarted() {
		t.Fatal("got an interrupted lock after Recovered")
	}
}

func TestGenerationGrowsAcrossHandles(t *testing.T) {
	dir := t.TempDir()
	var last uint64
	for range 3 {
		d := open(t, dir, lock.Options{})
		r := record(t, d)
		change(t, r)
		if r.Generation() <= last {
			t.Fatalf("got generation %d after %d", r.Generation(), last)
		}
		last = r.Generation()
		release(t, r)
	}
}

func recovered(t *testing.T, d *lock.Dir) {
	t.Helper()
	r := record(t, d)
	if err := r.Recovered(); err != nil {
		t.Fatal(err)
	}
	release(t, r)
}

func change(t *testing.T, r *lock.Record) {
	t.Helper()
	if err := r.Begin(); err != nil {
		t.Fatal(err)
	}
	if err := r.Done(); err != nil {
		t.Fatal(err)
	}
}

// Who released the lock says nothing about the files any more: another holder may be in
// the middle of a change.
func TestDoneAfterReleaseIsRefused(t *testing.T) {
	dir := t.TempDir()
	late, d := open(t, dir, lock.Options{}), open(t, dir, lock.Options{})
	recovered(t, d)
	r := record(t, late)
	if err := r.Begin(); err != nil {
		t.Fatal(err)
	}
	release(t, r)
	busy := record(t, d)
	if err := busy.Begin(); err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func() error{"Done": r.Done, "Recovered": r.Recovered, "Begin": r.Begin} {
		if err := call(); !errors.Is(err, lock.ErrNotHeld) {
			t.Errorf("%s: got %v, want ErrNotHeld", name, err)
		}
	}
	if !d.Interrupted() {
		t.Error("got a clean lock in the middle of a change")
	}
	release(t, busy)
}
