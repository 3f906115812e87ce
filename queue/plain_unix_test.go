//go:build unix

package queue_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
)

// obstacles are what may stand in the place of a file.
var obstacles = map[string]func(path, outside string) error{
	"symlink":   func(path, outside string) error { return os.Symlink(outside, path) },
	"dangling":  func(path, outside string) error { return os.Symlink(outside+".no", path) },
	"directory": func(path, _ string) error { return os.MkdirAll(filepath.Join(path, "x"), 0o700) },
	"pipe":      func(path, _ string) error { return syscall.Mkfifo(path, 0o600) },
}

// Nothing outside of the directory is read or written through what stands in the
// place of a file.
func TestNotAPlainFile(t *testing.T) {
	for name, plant := range obstacles {
		t.Run(name, func(t *testing.T) {
			outside := filepath.Join(t.TempDir(), "outside")
			content := "[\n" + lineA + "\n]\n"
			if err := os.WriteFile(outside, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			d := newDesk(t, queue.Options{})
			if err := plant(d.path(), outside); err != nil {
				t.Fatal(err)
			}
			if _, err := d.List(); !errors.Is(err, queue.ErrCorrupt) {
				t.Errorf("list: got %v, want ErrCorrupt", err)
			}
			if n, err := d.Len(); n != 0 || !errors.Is(err, queue.ErrCorrupt) {
				t.Errorf("len: got %d, %v, want ErrCorrupt", n, err)
			}
			if err := d.hold(func(held *lock.Record) error { return d.Enqueue(held, entry("z")) }); !errors.Is(err, queue.ErrCorrupt) {
				t.Errorf("enqueue: got %v, want ErrCorrupt", err)
			}
			d.must(func(held *lock.Record) error { _, err := d.Rebuild(held, []queue.Entry{entry("z")}); return err })
			d.atRest([]string{"z"})

			if err := plant(d.path()+".new", outside); err != nil {
				t.Fatal(err)
			}
			d.enqueue("y")
			d.remove("y")
			d.atRest([]string{"z"})
			if got, err := os.ReadFile(outside); err != nil || string(got) != content {
				t.Errorf("outside: got %q, %v", got, err)
			}
		})
	}
}

// What stands in the place of the claim makes the oldest entry unconfirmed, and stops
// passes until it is repaired. Messages are still accepted.
func TestClaimIsNotAPlainFile(t *testing.T) {
	for name, plant := range obstacles {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, queue.Options{})
			outside := filepath.Join(t.TempDir(), "outside")
			path := filepath.Join(d.dir, queue.ClaimFile)
			if err := errors.Join(os.WriteFile(outside, []byte("mine"), 0o600), plant(path, outside)); err != nil {
				t.Fatal(err)
			}
			equal(t, "nothing is owed", d.list(), nil)
			d.enqueue("a", "b")
			d.must((*lock.Record).Recovered)
			stuckAtClaim(t, d, path)
			d.enqueue("c")

			in, err := d.Inspect()
			if err != nil {
				t.Fatal(err)
			}
			var aside string
			d.must(func(held *lock.Record) error { aside, err = d.Rebuild(held, in.Entries); return err })
			if _, err := os.Lstat(aside); err != nil || filepath.Dir(aside) != d.dir {
				t.Errorf("aside: got %q, %v", aside, err)
			}
			if in, err := d.Inspect(); err != nil || in.Err() != nil {
				t.Errorf("after the repair: got %+v, %v", in.Faults, err)
			}
			if e := d.head(); !e.Unconfirmed() || e.LastError == "" {
				t.Errorf("after the repair: got %+v, want it claimed, and why", e)
			}
			d.must(func(held *lock.Record) error { return d.Unclaim(held, "a") })
			a := &agent{}
			if _, err := d.drain(a.handover()); err != nil {
				t.Fatal(err)
			}
			equal(t, "handed", a.handed, []string{"a", "b", "c"})
			if got, err := os.ReadFile(outside); err != nil || string(got) != "mine" {
				t.Errorf("outside: got %q, %v", got, err)
			}
		})
	}
}

// stuckAtClaim checks what is said while no claim can be read or written.
func stuckAtClaim(t *testing.T, d *desk, path string) {
	t.Helper()
	entries, err := d.List()
	var corrupt *queue.CorruptError
	if !errors.As(err, &corrupt) || corrupt.Path != path || len(entries) != 2 || !entries[0].Unconfirmed() || entries[1].Unconfirmed() {
		t.Errorf("list: got %+v, %v, want both, the first claimed, and a CorruptError", entries, err)
	}
	if in, err := d.Inspect(); err != nil || len(in.Faults) != 1 || in.Faults[0].Path != path || !in.Damaged() {
		t.Errorf("inspect: got %+v, %v", in, err)
	}
	if n, err := d.Len(); n != 2 || !errors.Is(err, queue.ErrCorrupt) {
		t.Errorf("len: got %d, %v", n, err)
	}
	for name, do := range map[string]func(held *lock.Record) error{
		"head":        func(held *lock.Record) error { _, _, err := d.Head(held); return err },
		"claim":       func(held *lock.Record) error { return d.Claim(held, "a") },
		"refused":     func(held *lock.Record) error { return d.Refused(held, "a", "r") },
		"unconfirmed": func(held *lock.Record) error { return d.Unconfirmed(held, "a", "r") },
		"unclaim":     func(held *lock.Record) error { return d.Unclaim(held, "a") },
	} {
		if err := d.hold(do); !errors.Is(err, queue.ErrCorrupt) {
			t.Errorf("%s: got %v, want ErrCorrupt", name, err)
		}
	}
	a := &agent{}
	if _, err := d.drain(a.handover()); !errors.Is(err, queue.ErrCorrupt) || len(a.handed) > 0 {
		t.Errorf("drain: got %v after %v, want ErrCorrupt and nothing handed over", err, a.handed)
	}
}

// What stands where a new file is to be written is in nobody's way.
func TestObstacleToANewFile(t *testing.T) {
	for name, plant := range obstacles {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, queue.Options{})
			outside := filepath.Join(t.TempDir(), "outside")
			for _, file := range []string{queue.ListFile, queue.ClaimFile} {
				if err := plant(filepath.Join(d.dir, file+".new"), outside); err != nil {
					t.Fatal(err)
				}
			}
			d.enqueue("a")
			d.must(func(held *lock.Record) error { return d.Claim(held, "a") })
			if e := d.head(); !e.Unconfirmed() {
				t.Errorf("got %+v, want it claimed", e)
			}
			d.remove("a")
			kept, err := filepath.Glob(filepath.Join(d.dir, "pending.*.new.damaged-*/x"))
			if want := name == "directory"; err != nil || len(kept) != 2 && want || len(kept) != 0 && !want {
				t.Errorf("kept: got %v, %v", kept, err)
			}
		})
	}
}

// A claim that may not be read is no free message either.
func TestUnreadableClaimFile(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root reads every file")
	}
	d := newDesk(t, queue.Options{})
	path := filepath.Join(d.dir, queue.ClaimFile)
	if err := os.WriteFile(path, nil, 0); err != nil {
		t.Fatal(err)
	}
	d.enqueue("a", "b")
	stuckAtClaim(t, d, path)
}

// A death in a rebuild of what is no plain file leaves no moment in which nothing
// seems to be owed and nobody is told.
func TestDeathInRebuildOfAnObstacle(t *testing.T) {
	for n, died := 1, true; died; n++ {
		d := newDesk(t, queue.Options{})
		d.must((*lock.Record).Recovered)
		if err := obstacles["directory"](d.path(), ""); err != nil {
			t.Fatal(err)
		}
		restore := dieAtStep(n)
		died = d.dies(func() {
			d.must(func(held *lock.Record) error { _, err := d.Rebuild(held, []queue.Entry{entry("a")}); return err })
		})
		restore()
		again := openDesk(t, d.dir, queue.Options{})
		owed, err := again.Owed()
		if err != nil {
			t.Fatal(err)
		}
		again.must(func(held *lock.Record) error {
			if !owed && !held.Interrupted() {
				return fmt.Errorf("step %d: no file, and the lock is clean", n)
			}
			return nil
		})
		again.Close()
	}
}
