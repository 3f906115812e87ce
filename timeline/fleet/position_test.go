package fleet_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/timeline/fleet"
	"github.com/docket-go/docket/timeline/session"
)

const lead = "lead"

// team matches the sessions of the tests, and not the reader's.
var team = []string{"a*", "b", "c"}

func openPosition(t tb, store *session.Store) *fleet.Position {
	t.Helper()
	p, err := fleet.OpenPosition(store, lead)
	check(t, err)
	t.Cleanup(func() { p.Close() })
	return p
}

// behind follows from a position, or from the start if it is none yet.
func behind(p *fleet.Position) fleet.Options { return p.Resume(fleet.Options{Match: team}) }

// take moves the position over the next updates, which must be these.
func take(t testing.TB, p *fleet.Position, w *watcher, want ...string) {
	t.Helper()
	for _, s := range want {
		u, err, _ := w.next()
		check(t, err)
		if got := words(u); got != s {
			t.Fatalf("got %q, want %q", got, s)
		}
		p.Advance(u)
	}
}

// A reader goes on behind what it saved, and gets again what it did not.
func TestPosition(t *testing.T) {
	store := newStore(t)
	made(t, store, lead)
	a := made(t, store, "a", "1", "2", "3")
	p := openPosition(t, store)
	if !p.Cursor().IsZero() || p.Moved() {
		t.Errorf("got %v of a reader that has read nothing", p.Cursor())
	}
	check(t, p.Save(t.Context()))
	w := follow(t, store, behind(p))
	take(t, p, w, "a+", "a 0 1", "a 1 2")
	check(t, p.Save(t.Context()))
	take(t, p, w, "a 2 3", "caught up")
	if !p.Moved() {
		t.Error("got nothing to save")
	}
	again := openPosition(t, store)
	v := follow(t, store, behind(again))
	take(t, again, v, "a 2 3", "caught up")
	made(t, store, "b", "4")
	take(t, again, v, "b+", "b 0 4")
	check(t, again.Save(t.Context()))
	check(t, p.Save(t.Context())) // which is behind that
	third := openPosition(t, store)
	follow(t, store, behind(third)).want("caught up")

	// The next life of a session is read from its first event, and a reader that comes
	// late with a place in the one before changes nothing.
	late := openPosition(t, store)
	take(t, late, follow(t, store, behind(late)), "caught up")
	closeSession(t, a)
	made(t, store, "a", "5")
	last := openPosition(t, store)
	x := follow(t, store, behind(last))
	take(t, last, x, "a-", "a+", "a 0 5", "caught up")
	check(t, last.Save(t.Context()))
	check(t, late.Save(t.Context()))
	take(t, third, follow(t, store, behind(third)), "a-", "a+")
	check(t, third.Save(t.Context()))
	follow(t, store, behind(openPosition(t, store))).want("caught up")
}

// A reader that saw a session without events does not move another back that has read
// some since.
func TestPositionInAnEmptySession(t *testing.T) {
	store := newStore(t)
	made(t, store, lead)
	a := made(t, store, "a")
	slow, quick := openPosition(t, store), openPosition(t, store)
	take(t, slow, follow(t, store, behind(slow)), "a+", "caught up")
	w := follow(t, store, behind(quick))
	take(t, quick, w, "a+", "caught up")
	check(t, quick.Save(t.Context()))
	say(t, a, "1")
	take(t, quick, w, "a 0 1")
	check(t, quick.Save(t.Context()))
	check(t, slow.Save(t.Context()))
	follow(t, store, behind(openPosition(t, store))).want("caught up")
}

// A session that left is forgotten, and one that was moved away and back is not read
// again from where it was.
func TestPositionForgets(t *testing.T) {
	store := newStore(t)
	made(t, store, lead)
	a := made(t, store, "a", "1")
	made(t, store, "b", "2")
	p := openPosition(t, store)
	w := follow(t, store, behind(p))
	take(t, p, w, "a+", "a 0 1", "b+", "b 0 2", "caught up")
	check(t, p.Save(t.Context()))
	closeSession(t, a)
	take(t, p, w, "a-")
	check(t, p.Save(t.Context()))
	if got := openPosition(t, store).Cursor().Sessions(); len(got) != 1 || got[0] != "b" {
		t.Errorf("got places in %v, want in b", got)
	}
	dir := filepath.Join(store.Dir(), "sessions", "b")
	check(t, os.Rename(dir, dir+"-away"))
	take(t, p, w, "b-")
	check(t, os.Rename(dir+"-away", dir))
	take(t, p, w, "b+")
	check(t, p.Save(t.Context()))
	follow(t, store, behind(openPosition(t, store))).want("caught up")
}

// A position is of its store, also where none of its sessions is there any more.
func TestPositionWithoutItsSessions(t *testing.T) {
	store := newStore(t)
	made(t, store, lead)
	a := made(t, store, "a", "1")
	p := openPosition(t, store)
	take(t, p, follow(t, store, behind(p)), "a+", "a 0 1")
	check(t, p.Save(t.Context()))
	check(t, os.RemoveAll(a.Dir()))
	follow(t, store, behind(openPosition(t, store))).want("a-", "caught up")
}

func TestPositionNeedsItsReader(t *testing.T) {
	store := newStore(t)
	made(t, store, "a", "1")
	if _, err := fleet.OpenPosition(store, lead); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("got %v, want %v", err, session.ErrNotFound)
	}
	reader := create(t, store, lead)
	p := openPosition(t, store)
	take(t, p, follow(t, store, behind(p)), "a+")
	closeSession(t, reader)
	if err := p.Save(context.Background()); !errors.Is(err, lock.ErrClosed) {
		t.Errorf("got %v, want %v", err, lock.ErrClosed)
	}
}

// A position that was damaged anywhere is never read as another one, nor replaced.
func TestCorruptPosition(t *testing.T) {
	store := newStore(t)
	reader := made(t, store, lead)
	made(t, store, "a", "1", "2")
	p := openPosition(t, store)
	w := follow(t, store, behind(p))
	take(t, p, w, "a+", "a 0 1")
	check(t, p.Save(t.Context()))
	take(t, p, w, "a 1 2")
	path := filepath.Join(reader.Dir(), "fleet.cursor")
	whole, err := os.ReadFile(path)
	check(t, err)
	bad := [][]byte{append(bytes.Clone(whole), 'A'), append(bytes.Clone(whole), '\n')}
	for i := range whole {
		changed := bytes.Clone(whole)
		changed[i] ^= 1
		bad = append(bad, whole[:i], changed)
	}
	for _, data := range bad {
		check(t, os.WriteFile(path, data, 0o600))
		_, err := fleet.OpenPosition(store, lead)
		var own *fleet.PositionError
		if !errors.Is(err, fleet.ErrCorrupt) || !errors.As(err, &own) || own.Path != path {
			t.Fatalf("%q: got %v, want %v", data, err, fleet.ErrCorrupt)
		}
		if err := fleet.CheckPosition(reader); !errors.Is(err, fleet.ErrCorrupt) {
			t.Fatalf("%q: got %v from CheckPosition, want %v", data, err, fleet.ErrCorrupt)
		}
		if err := p.Save(t.Context()); !errors.Is(err, fleet.ErrCorrupt) {
			t.Fatalf("%q: got %v from Save, want %v", data, err, fleet.ErrCorrupt)
		}
		if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, data) {
			t.Fatalf("got %q, %v, want %q as it was", now, err, data)
		}
	}
	check(t, os.WriteFile(path, whole, 0o600))
	check(t, p.Save(t.Context()))
	check(t, os.Remove(path))
	check(t, os.Mkdir(path, 0o700))
	if _, err := fleet.OpenPosition(store, lead); !errors.Is(err, fleet.ErrCorrupt) {
		t.Errorf("a directory: got %v, want %v", err, fleet.ErrCorrupt)
	}
}

// The first time and the later ones are one call; what else was asked for stays.
func TestResume(t *testing.T) {
	store := newStore(t)
	made(t, store, lead)
	made(t, store, "a", "1")
	p := openPosition(t, store)
	o := p.Resume(fleet.Options{Match: team, Mode: fleet.TailOnly, Poll: -1})
	if o.Mode != fleet.FromStart || !o.After.IsZero() || len(o.Match) != len(team) || o.Poll != -1 {
		t.Errorf("the first time: got %+v, want all from the start", o)
	}
	take(t, p, follow(t, store, o), "a+", "a 0 1", "caught up")
	if o = p.Resume(o); o.Mode != fleet.After || o.After.String() != p.Cursor().String() || o.Poll != -1 {
		t.Errorf("later: got %+v, want what is behind %s", o, p.Cursor())
	}
	follow(t, store, o).want("caught up")
}
