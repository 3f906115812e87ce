package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/docket-go/docket/lock"
)

// probePrefix begins the name of the directory in which the locks are tried.
const probePrefix = ".doctor-"

// probe makes a directory in the store, tries there what writers need, and removes it.
func (e *examination) probe() {
	if e.absent {
		return
	}
	store := e.Store.Dir()
	dir, err := os.MkdirTemp(store, probePrefix)
	if err != nil {
		e.problem("write", "ls -ld "+quoted(store), "the store cannot be written: %v", err)
		return
	}
	defer func() {
		if err := os.RemoveAll(dir); err != nil {
			e.problem("write", "rm -r "+quoted(dir), "what was tried there cannot be removed: %v", err)
		}
	}()
	e.ok("write", "the store can be written")
	e.exclusion(dir)
	e.latency(dir)
}

// exclusion tries whether a lock excludes another handle, which comes by another path,
// so that it is the kernel that says so.
func (e *examination) exclusion(dir string) {
	const do = "export DOCKET_HOME=/a/directory/on/a/local/disk"
	real, alias := filepath.Join(dir, "a", "s"), filepath.Join(dir, "b")
	if err := os.MkdirAll(real, 0o700); err != nil {
		e.problem("locks", do, "they cannot be tried: %v", err)
		return
	}
	free, err := tryTwice(e.ctx, real, real)
	if err == nil && os.Symlink("a", alias) == nil { // not everybody may, everywhere
		free, err = tryTwice(e.ctx, real, filepath.Join(alias, "s"))
	}
	switch {
	case errors.Is(err, lock.ErrUnsupported):
		e.problem("locks", do, "the file system has no working locks, so nothing is written there; reading works")
	case err != nil:
		e.problem("locks", do, "%v", err)
	case free:
		e.problem("locks", do, "two processes can hold the same lock: what they write damages each other's")
	default:
		e.ok("locks", "they exclude each other")
	}
}

// tryTwice takes a lock by one path, and reports whether it can be had by the other one
// too.
func tryTwice(ctx context.Context, first, second string) (free bool, err error) {
	a, err := lock.Open(first, lock.Options{Wait: time.Second})
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	b, err := lock.Open(second, lock.Options{})
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	held, err := a.Record(ctx)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, held.Release()) }()
	pass, err := a.TryDelivery()
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, pass.Release()) }()
	again, err := b.TryDelivery()
	if errors.Is(err, lock.ErrBusy) {
		return false, nil
	}
	return err == nil, errors.Join(err, again.Release())
}

// latency times one sync of a small file, which every accepted message waits for.
func (e *examination) latency(dir string) {
	took, err := timeSync(filepath.Join(dir, "sync"))
	if err != nil {
		e.problem("sync", "df -h "+quoted(e.Store.Dir()), "a small file cannot be written there: %v", err)
		return
	}
	switch text := fmt.Sprintf("it took %s to put a small file on stable storage", took.Round(100*time.Microsecond)); {
	case took < 5*time.Millisecond:
		e.ok("sync", "%s, which is fast", text)
	case took < 50*time.Millisecond:
		e.ok("sync", "%s, which is usual for a disk", text)
	default:
		e.note("sync", "", "%s, which is slow: each accepted message waits for that, unless the machine is just busy", text)
	}
}

func timeSync(path string) (took time.Duration, err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.Write(make([]byte, 4096)); err != nil {
		return 0, err
	}
	begun := time.Now()
	err = f.Sync()
	return time.Since(begun), err
}
