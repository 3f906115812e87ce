package watching_test

import (
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/docket-go/docket/dispatch/watching"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

func list(names ...string) []string { return names }

func TestWatchIsFromNowOn(t *testing.T) {
	w := newWorld(t, "s1", "lead", "other")
	w.declare("s1", "before")
	w.watch("s1", "lead")
	if told := w.tell("s1"); told.Messages != 0 {
		t.Errorf("got %+v, want nothing to tell", told)
	}
	w.declare("s1", "one")
	w.declare("s1", "two")
	w.watch("s1", "other")
	if told := w.tell("s1"); told.Messages != 2 || !slices.Equal(told.To, list("lead")) {
		t.Errorf("got %+v, want two messages to lead", told)
	}
	w.declare("s1", "three")
	if told := w.tell("s1"); told.Messages != 2 {
		t.Errorf("got %+v, want one message to each", told)
	}
	wantEqual(t, "lead", w.notes("lead"), list("one", "two", "three"))
	wantEqual(t, "other", w.notes("other"), list("three"))
	wantEqual(t, "watchers", w.watchers("s1"), list("lead", "other"))
}

// What was declared before the end of a watch is told, also after it; nothing later is.
func TestUnwatch(t *testing.T) {
	w := newWorld(t, "s1", "lead", "other")
	w.watch("s1", "lead")
	w.watch("s1", "other")
	w.declare("s1", "one")
	w.unwatch("s1", "lead")
	wantEqual(t, "watchers", w.watchers("s1"), list("lead-", "other"))
	w.declare("s1", "two")
	w.tell("s1")
	wantEqual(t, "lead", w.notes("lead"), list("one"))
	wantEqual(t, "watchers", w.watchers("s1"), list("other"))
	wantIs(t, w.w.Remove(t.Context(), "s1", "lead"), watching.ErrNotWatching)

	w.unwatch("s1", "other") // nothing is left to be told: the file goes at once
	if _, err := os.Stat(w.file("s1")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want no file", err)
	}
	wantEqual(t, "other", w.notes("other"), list("one", "two"))
}

// Who watches again before the end of the last watch was told misses what lies between.
func TestWatchAgain(t *testing.T) {
	w := newWorld(t, "s1", "lead")
	w.watch("s1", "lead")
	w.declare("s1", "one")
	w.unwatch("s1", "lead")
	w.declare("s1", "two")
	w.watch("s1", "lead")
	w.declare("s1", "three")
	w.tell("s1")
	wantEqual(t, "lead", w.notes("lead"), list("one", "three"))
	wantEqual(t, "watchers", w.watchers("s1"), list("lead"))

	first, again := w.request("s1", watching.Request{By: "lead"}), w.request("s1", watching.Request{By: "lead"})
	if first != again || len(w.watchers("s1")) != 1 {
		t.Errorf("got %+v and %+v, want one watch", first, again)
	}
}

// Routine work is told only where that is asked for, from then on.
func TestWatchWorking(t *testing.T) {
	w := newWorld(t, "s1", "lead", "keen")
	w.watch("s1", "lead")
	w.request("s1", watching.Request{By: "keen", Working: true})
	w.declare("s1", "routine", session.StatusActive)
	w.declare("s1", "at rest")
	w.tell("s1")
	wantEqual(t, "lead", w.notes("lead"), list("at rest"))
	wantEqual(t, "keen", w.notes("keen"), list("routine", "at rest"))

	w.declare("s1", "more routine", session.StatusActive)
	w.request("s1", watching.Request{By: "lead", Working: true})
	w.request("s1", watching.Request{By: "keen"})
	w.declare("s1", "at rest again")
	w.declare("s1", "routine again", session.StatusActive)
	w.tell("s1")
	wantEqual(t, "lead", w.notes("lead"), list("at rest", "at rest again", "routine again"))
	wantEqual(t, "keen", w.notes("keen"), list("routine", "at rest", "more routine", "at rest again"))
}

// A watch may begin in the past. What was told before is not told again.
func TestWatchFromAPlace(t *testing.T) {
	w := newWorld(t, "s1", "lead", "late")
	var start, middle timeline.Cursor
	w.in("s1", func(s *session.Session) (err error) {
		start, err = s.Timeline().Start(t.Context())
		return err
	})
	w.declare("s1", "one")
	w.in("s1", func(s *session.Session) (err error) {
		middle, err = s.Timeline().End(t.Context())
		return err
	})
	w.watch("s1", "lead")
	w.declare("s1", "two")
	w.tell("s1")
	w.request("s1", watching.Request{By: "late", From: middle})
	w.request("s1", watching.Request{By: "lead", From: start})
	w.declare("s1", "three")
	w.tell("s1")
	wantEqual(t, "late", w.notes("late"), list("two", "three"))
	wantEqual(t, "lead", w.notes("lead"), list("two", "one", "three"))
	wantEqual(t, "watchers", w.watchers("s1"), list("late", "lead"))
}

func TestWatchRefuses(t *testing.T) {
	w := newWorld(t, "s1", "lead")
	var place timeline.Cursor
	w.declare("lead", "something")
	w.in("lead", func(s *session.Session) (err error) {
		place, err = s.Timeline().End(t.Context())
		return err
	})
	for name, tt := range map[string]struct {
		id   string
		q    watching.Request
		want error
	}{
		"itself":                 {"s1", watching.Request{By: "s1"}, watching.ErrSelf},
		"no such watched":        {"nobody", watching.Request{By: "lead"}, session.ErrNotFound},
		"no such watcher":        {"s1", watching.Request{By: "nobody"}, session.ErrNotFound},
		"no watcher":             {"s1", watching.Request{}, session.ErrBadID},
		"bad id":                 {"../s1", watching.Request{By: "lead"}, session.ErrBadID},
		"bad watcher":            {"s1", watching.Request{By: "../lead"}, session.ErrBadID},
		"a place of another log": {"s1", watching.Request{By: "lead", From: place}, timeline.ErrForeignCursor},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := w.w.Add(t.Context(), tt.id, tt.q)
			wantIs(t, err, tt.want)
			if _, err := os.Stat(w.file("s1")); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("got %v, want no file", err)
			}
		})
	}
	wantIs(t, w.w.Remove(t.Context(), "s1", "lead"), watching.ErrNotWatching)
	wantIs(t, w.w.Remove(t.Context(), "nobody", "lead"), session.ErrNotFound)
	_, err := w.w.List("nobody")
	wantIs(t, err, session.ErrNotFound)
	_, err = w.w.Tell(t.Context(), "../s1", watching.TellOptions{})
	wantIs(t, err, session.ErrBadID)
	if told := w.tell("nobody"); told.Messages != 0 {
		t.Errorf("got %+v", told)
	}
}
