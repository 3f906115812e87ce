package session_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/timeline/session"
)

func TestClose(t *testing.T) {
	now := time.Date(2026, 7, 16, 0, 0, 0, 0, time.UTC)
	store, err := session.OpenStore(t.TempDir(), session.Options{Now: func() time.Time { return now }})
	check(t, err)
	s := create(t, store, "s")
	declare(t, s, asking)
	if _, ok, err := store.Closed("s"); ok || err != nil {
		t.Errorf("got closed %v, %v", ok, err)
	}
	check(t, s.Close(ctx))
	if c, ok, err := store.Closed("s"); !ok || err != nil || !c.At.Equal(now) {
		t.Errorf("got closed %+v, %v, %v", c, ok, err)
	}
	if _, err := os.Lstat(s.Dir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want no directory", err)
	}
	staged(t, store, 0)
	_, err = store.Open("s")
	wantError(t, err, session.ErrNotFound)
	_, err = s.Declare(ctx, active)
	wantError(t, err, lock.ErrClosed)

	next := create(t, store, "s") // a new life
	_, err = s.Record()           // not to be seen through the old handle
	wantError(t, err, lock.ErrClosed)
	_, err = s.Declare(ctx, active)
	wantError(t, err, lock.ErrClosed)
	wantError(t, s.Close(ctx), lock.ErrClosed)
	if got := declarations(t, next); len(got) != 0 {
		t.Errorf("got events %v in a new life", got)
	}
	if _, ok, err := store.Closed("s"); !ok || err != nil {
		t.Errorf("got closed %v, %v, want the mark of the old life to stay", ok, err)
	}
	now = now.Add(time.Hour)
	check(t, next.Close(ctx))
	if c, _, err := store.Closed("s"); err != nil || !c.At.Equal(now) {
		t.Errorf("got closed %+v, %v, want at %v", c, err, now)
	}
}

// A session whose record is damaged can be closed.
func TestCloseDamaged(t *testing.T) {
	store := newStore(t)
	s := create(t, store, "s")
	check(t, os.WriteFile(filepath.Join(s.Dir(), "session.json"), []byte("{"), 0o600))
	check(t, open(t, store, "s").Close(ctx))
	_, err := store.Open("s")
	wantError(t, err, session.ErrNotFound)
}

// A pass that is under way is not cut off.
func TestCloseWaitsForThePass(t *testing.T) {
	store, err := session.OpenStore(t.TempDir(), session.Options{LockWait: time.Millisecond})
	check(t, err)
	s := create(t, store, "s")
	pass, err := s.Locks().Delivery(ctx)
	check(t, err)
	wantError(t, open(t, store, "s").Close(ctx), lock.ErrTimeout)
	if _, ok, err := store.Closed("s"); ok || err != nil {
		t.Errorf("got closed %v, %v, want nothing done", ok, err)
	}
	check(t, pass.Release())
	check(t, s.Close(ctx))
}

func TestDamagedMarks(t *testing.T) {
	store := newStore(t)
	check(t, create(t, store, "s").Close(ctx))
	path := filepath.Join(store.Dir(), "closed", "s")
	for _, content := range []string{"", "{", "{}", `{"session":"other","closedAt":"2026-01-01T00:00:00Z"}`, `{"session":"s","closedAt":1}`} {
		check(t, os.WriteFile(path, []byte(content), 0o600))
		_, ok, err := store.Closed("s")
		wantError(t, err, session.ErrUnreadable)
		if !ok {
			t.Errorf("%q: got no mark, want one that cannot be read", content)
		}
	}
	check(t, os.Remove(path))
	check(t, os.Symlink("/dev/zero", path))
	_, ok, err := store.Closed("s")
	wantError(t, err, session.ErrUnreadable)
	if !ok {
		t.Error("got no mark")
	}
}

// Nothing outside the store is touched through a link that stands in its place.
func TestPlantedLinks(t *testing.T) {
	for _, name := range []string{"sessions/.staging", "closed"} {
		store := newStore(t)
		s := create(t, store, "s")
		outside := t.TempDir()
		check(t, os.Mkdir(filepath.Join(outside, "closed-x"), 0o700))
		check(t, os.RemoveAll(filepath.Join(store.Dir(), name)))
		check(t, os.Symlink(outside, filepath.Join(store.Dir(), name)))
		if err := s.Close(ctx); err == nil {
			t.Errorf("%s: got no error", name)
		}
		entries, err := os.ReadDir(outside)
		check(t, err)
		if len(entries) != 1 {
			t.Errorf("%s: got %v, want what was there", name, entries)
		}
		record(t, s)
	}
}

// A half-made session is removed only when nobody is making it.
func TestSweepLeavesTheLiving(t *testing.T) {
	store := newStore(t)
	create(t, store, "s")
	staging := filepath.Join(store.Dir(), "sessions", ".staging")
	for _, name := range []string{"new-living", "new-dead", "closed-dead", "unknown"} {
		check(t, os.MkdirAll(filepath.Join(staging, name, "timeline"), 0o700))
	}
	builder := command(t, store, "build")
	builder.Stderr = os.Stderr
	stop, err := builder.StdinPipe()
	check(t, err)
	out, err := builder.StdoutPipe()
	check(t, err)
	check(t, builder.Start())
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("got %q, %v", line, err)
	}
	create(t, store, "s2")
	for name, there := range map[string]bool{"new-living": true, "new-dead": false, "closed-dead": false, "unknown": true} {
		if _, err := os.Stat(filepath.Join(staging, name)); (err == nil) != there {
			t.Errorf("%s: got %v, want there %v", name, err, there)
		}
	}
	check(t, errors.Join(stop.Close(), builder.Wait()))
	check(t, create(t, store, "s3").Close(ctx))
	staged(t, store, 1)
}

// build holds a half-made session until its standard input ends.
func build(store *session.Store) error {
	d, err := lock.Open(filepath.Join(store.Dir(), "sessions", ".staging", "new-living"), lock.Options{})
	if err != nil {
		return err
	}
	guard, err := d.TryDelivery()
	if err != nil {
		return err
	}
	fmt.Println("ready")
	_, err = io.ReadAll(os.Stdin)
	return errors.Join(err, guard.Release(), d.Close())
}
