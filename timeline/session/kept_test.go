package session_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/timeline/session"
)

const keptFile = "kept-by-a-test"

func keep(s *session.Session, text string) error {
	held, err := s.Locks().Record(ctx)
	if err != nil {
		return err
	}
	return errors.Join(s.Keep(held, keptFile, []byte(text)), held.Release())
}

func kept(t *testing.T, s *session.Session) string {
	t.Helper()
	data, found, err := s.Kept(keptFile, 10)
	check(t, err)
	if !found {
		return "none"
	}
	return string(data)
}

// A kept file is there until the session is closed, and needs the session's own lock.
func TestKeep(t *testing.T) {
	store := newStore(t)
	s, other := create(t, store, "s"), create(t, store, "other")
	if got := kept(t, s); got != "none" {
		t.Errorf("got %s", got)
	}
	check(t, keep(s, "one"))
	check(t, keep(s, "two"))
	if got := kept(t, s); got != "two" {
		t.Errorf("got %s, want two", got)
	}
	alien := held(t, other)
	wantError(t, s.Keep(alien, keptFile, nil), lock.ErrNotHeld)
	check(t, alien.Release())
	odd, err := s.Check(ctx)
	if err != nil || len(odd) > 0 {
		t.Errorf("got %v, %v", odd, err)
	}
	check(t, s.Archive(ctx))
	check(t, s.Close(ctx))
	wantError(t, keep(s, "three"), lock.ErrClosed)
	_, _, err = s.Kept(keptFile, 10)
	wantError(t, err, lock.ErrClosed)
	if got := kept(t, create(t, store, "s")); got != "none" {
		t.Errorf("got %s in the next life", got)
	}
}

func TestKeptThatIsNoFile(t *testing.T) {
	s := create(t, newStore(t), "s")
	path := filepath.Join(s.Dir(), keptFile)
	check(t, keep(s, "longer than ten"))
	_, _, err := s.Kept(keptFile, 10)
	wantError(t, err, session.ErrUnreadable)
	check(t, os.Rename(path, path+"-elsewhere"))
	check(t, os.Symlink(path+"-elsewhere", path))
	_, _, err = s.Kept(keptFile, 100)
	wantError(t, err, session.ErrUnreadable)
}

func TestDeathInKeep(t *testing.T) {
	eachDeath(t, "keep", func(store *session.Store) { check(t, keep(create(t, store, "s"), "before")) }, func(t *testing.T, store *session.Store) {
		s := open(t, store, "s")
		if got := kept(t, s); got != "before" && got != "after" {
			t.Errorf("got %q", got)
		}
		check(t, keep(s, "again"))
		if got := kept(t, s); got != "again" {
			t.Errorf("got %q, want again", got)
		}
		names, err := filepath.Glob(filepath.Join(s.Dir(), keptFile+"*"))
		check(t, err)
		if len(names) != 1 {
			t.Errorf("got %v", names)
		}
	})
}
