package watching_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/docket-go/docket/dispatch/watching"
	"github.com/docket-go/docket/timeline/session"
)

// untold tells, which must leave by untold with an error, and returns that.
func (w *world) untold(id, by string) error {
	w.t.Helper()
	told, err := w.w.Tell(w.t.Context(), id, watching.TellOptions{})
	untold := (*watching.UntoldError)(nil)
	if !errors.As(err, &untold) || !slices.Equal(untold.By, list(by)) || len(told.Ended) > 0 {
		w.t.Fatalf("got %+v and %v, want %s untold, and nobody's watch ended", told, err, by)
	}
	return untold.Err
}

// move moves the directory of a session out of the store, and returns how it comes back.
func (w *world) move(id string) (back func()) {
	w.t.Helper()
	dir, away := filepath.Join(w.dir, "sessions", id), filepath.Join(w.t.TempDir(), id)
	must(w.t, os.Rename(dir, away))
	return func() { must(w.t, os.Rename(away, dir)) }
}

// A watcher whose directory is missing is not closed: it is told when it is back, by
// the process that missed it and by another one.
func TestAwayWatcher(t *testing.T) {
	for _, restart := range []bool{false, true} {
		w := newWorld(t, "s1", "lead", "other")
		w.watch("s1", "lead")
		w.watch("s1", "other")
		w.declare("s1", "one")
		w.tell("s1")
		back := w.move("lead")
		if restart {
			w.start()
		}
		w.declare("s1", "two")
		wantIs(t, w.untold("s1", "lead"), watching.ErrAway)
		if all, err := w.w.List("s1"); err != nil || len(all) != 2 || all[0].Closed {
			t.Errorf("got %+v and %v, want both, and lead not closed", all, err)
		}
		back()
		w.declare("s1", "three")
		w.tell("s1")
		wantEqual(t, "lead", w.notes("lead"), list("one", "two", "three"))
		wantEqual(t, "other", w.notes("other"), list("one", "two", "three"))
	}
}

// A mark that is about an earlier life, or cannot be read, does not make a missing
// watcher a closed one; that its id is made anew and closed does.
func TestAwayWithMark(t *testing.T) {
	w := newWorld(t, "s1", "lead")
	w.close("lead")
	w.create("lead")
	w.watch("s1", "lead")
	w.declare("s1", "one")
	w.move("lead")
	wantIs(t, w.untold("s1", "lead"), watching.ErrAway)

	mark := filepath.Join(w.dir, "closed", "lead")
	good, err := os.ReadFile(mark)
	must(t, err)
	must(t, os.WriteFile(mark, []byte("{"), 0o600))
	wantIs(t, w.untold("s1", "lead"), session.ErrUnreadable)
	must(t, os.WriteFile(mark, good, 0o600))

	w.create("lead")
	w.close("lead")
	if told := w.tell("s1"); !slices.Equal(told.Ended, list("lead")) {
		t.Errorf("got %+v, want lead off the list", told)
	}
	wantEqual(t, "watchers", w.watchers("s1"), nil)
}
