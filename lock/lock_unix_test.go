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

func TestClosedDirectory(t *testing.T) {
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
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "s1")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			d := open(t, dir, lock.Options{Wait: -1})
			held := record(t, d)
			waited := make(chan error, 1)
			go func() {
				_, err := d.Record(context.Background())
				waited <- err
			}()
			eventually(t, "the waiter queues up", func() bool { return d.Waiting() == 2 })
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
