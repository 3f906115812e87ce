//go:build unix

package lock_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/docket-go/docket/lock"
)

// A handle that was used a while trusts the stamp of the directory, a new one looks
// at the names.
func TestClosedDirectory(t *testing.T) {
	t.Run("new handle", func(t *testing.T) { testClosedDirectory(t, func(*lock.Dir) {}) })
	t.Run("used handle", func(t *testing.T) { testClosedDirectory(t, func(d *lock.Dir) { trusting(t, d) }) })
}

// trusting uses the handle until it trusts the stamp of the directory, if the file
// system has one to trust.
func trusting(t *testing.T, d *lock.Dir) {
	t.Helper()
	if release(t, record(t, d)); !d.Stamped() {
		t.Skip("the file system is not known to stamp its directories")
	}
	eventually(t, "the stamp is trusted", func() bool {
		release(t, record(t, d))
		return d.Stands()
	})
}

func testClosedDirectory(t *testing.T, use func(d *lock.Dir)) {
	for _, tt := range []struct {
		name string
		ruin func(dir string) error
	}{
		{"removed", os.RemoveAll},
		{"renamed", func(dir string) error { return os.Rename(dir, dir+"-away") }},
		{"replaced", func(dir string) error {
			if err := os.Rename(dir, dir+"-away"); err != nil {
				return err
			}
			return os.Mkdir(dir, 0o700)
		}},
		{"moved up and a directory put in its place", func(dir string) error {
			if err := os.Rename(dir, filepath.Dir(filepath.Dir(dir))+"/away"); err != nil {
				return err
			}
			return os.Mkdir(dir, 0o700)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "s1")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			d := open(t, dir, lock.Options{Wait: -1})
			use(d)
			held := record(t, d)
			waited := make(chan error, 1)
			go func() {
				_, err := d.Record(context.Background())
				waited <- err
			}()
			eventually(t, "the waiter queues up", func() bool { return d.Waiting() == 1 })
			if err := tt.ruin(dir); err != nil {
				t.Fatal(err)
			}
			release(t, held)
			if err := <-waited; !errors.Is(err, lock.ErrClosed) {
				t.Errorf("the waiter got %v, want ErrClosed", err)
			}
			if _, err := d.Record(t.Context()); !errors.Is(err, lock.ErrClosed) {
				t.Errorf("got %v, want ErrClosed", err)
			}
			if _, err := d.TryDelivery(); !errors.Is(err, lock.ErrClosed) {
				t.Errorf("got %v, want ErrClosed", err)
			}
		})
	}
	if _, err := lock.Open(filepath.Join(t.TempDir(), "never"), lock.Options{}); !errors.Is(err, lock.ErrClosed) {
		t.Errorf("got %v, want ErrClosed for a directory that never was", err)
	}
}

// What stands above the directory is looked at again after a moment.
func TestMovedStoreIsNoticed(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store")
	if err := os.MkdirAll(store+"/s1", 0o700); err != nil {
		t.Fatal(err)
	}
	d := open(t, store+"/s1", lock.Options{})
	trusting(t, d)
	if err := os.Rename(store, store+"-away"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the move is noticed", func() bool {
		r, err := d.Record(t.Context())
		if err == nil {
			release(t, r)
		}
		return errors.Is(err, lock.ErrClosed)
	})
}

// Whatever happens to the names in the directory between two holds, the file that is
// locked is the one that bears the lock's name.
func TestLockedFileBearsTheName(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"removed": os.Remove,
		"renamed": func(path string) error { return os.Rename(path, path+".away") },
		"replaced": func(path string) error {
			if err := os.WriteFile(path+".new", nil, 0o600); err != nil {
				return err
			}
			return os.Rename(path+".new", path)
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t, t.TempDir(), lock.Options{})
			trusting(t, d)
			if err := change(d.Path() + "/record.lock"); err != nil {
				t.Fatal(err)
			}
			r := record(t, d)
			other := open(t, d.Path(), lock.Options{Wait: time.Millisecond})
			if _, err := other.Record(t.Context()); !errors.Is(err, lock.ErrTimeout) {
				t.Fatalf("got %v, want ErrTimeout: both must lock one file", err)
			}
			release(t, r)
		})
	}
}

func TestPlantedLockFilesAreRefused(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	for name, plant := range map[string]func(path string) error{
		"symlink":   func(path string) error { return os.Symlink(outside, path) },
		"directory": func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t, t.TempDir(), lock.Options{Wait: time.Millisecond})
			if err := plant(d.Path() + "/record.lock"); err != nil {
				t.Fatal(err)
			}
			if _, err := d.Record(t.Context()); err == nil {
				t.Fatal("got no error for a planted lock file")
			}
			if _, err := os.Lstat(outside); !errors.Is(err, os.ErrNotExist) {
				t.Fatalf("got %v, want nothing made outside", err)
			}
		})
	}
}

func TestFileSystemWithoutLocksIsRefused(t *testing.T) {
	d := open(t, t.TempDir(), lock.Options{})
	if err := d.FlockError(syscall.ENOLCK); !errors.Is(err, lock.ErrUnsupported) {
		t.Errorf("got %v, want ErrUnsupported for ENOLCK", err)
	}
	if err := d.FlockError(syscall.EIO); errors.Is(err, lock.ErrUnsupported) || !errors.Is(err, syscall.EIO) {
		t.Errorf("got %v, want EIO as it is", err)
	}
}

// The peer of BenchmarkRecord is the bare kernel call on an open descriptor.
func BenchmarkRecord(b *testing.B) {
	dir := b.TempDir()
	b.Run("docket", func(b *testing.B) {
		d, err := lock.Open(dir, lock.Options{})
		if err != nil {
			b.Fatal(err)
		}
		defer d.Close()
		for b.Loop() {
			r, err := d.Record(context.Background())
			if err != nil {
				b.Fatal(err)
			}
			r.Release()
		}
	})
	b.Run("flock", func(b *testing.B) {
		f, err := os.Create(dir + "/bare")
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		for b.Loop() {
			if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
				b.Fatal(err)
			}
			syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
		}
	})
}

// A path that cannot be looked at does not prove that the session is gone: who took it
// for closed would forget what it is owed.
func TestUnreachableIsNotGone(t *testing.T) {
	store := t.TempDir()
	parent, away := filepath.Join(store, "sessions"), filepath.Join(store, "away")
	dir := filepath.Join(parent, "s1")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	d := open(t, dir, lock.Options{})
	release(t, record(t, d))
	if err := errors.Join(os.Rename(parent, away), os.Symlink("sessions", parent)); err != nil {
		t.Fatal(err)
	}
	if d.Gone() {
		t.Error("got gone behind a link that leads to itself, want that nobody can tell")
	}
	if err := d.Close(); err != nil { // it looks at the path anew
		t.Fatal(err)
	}
	if _, err := d.Record(t.Context()); errors.Is(err, lock.ErrClosed) || !errors.Is(err, syscall.ELOOP) {
		t.Errorf("got %v, want what the system says", err)
	}
	if err := errors.Join(os.Remove(parent), os.WriteFile(parent, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if !d.Gone() {
		t.Error("got that it is there where its parent is a file, want it gone")
	}
	if err := errors.Join(os.Remove(parent), os.Rename(away, parent)); err != nil {
		t.Fatal(err)
	}
	release(t, record(t, d))
}
