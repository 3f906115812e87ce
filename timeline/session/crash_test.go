package session_test

import (
	"errors"
	"testing"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

// actions are what the other process of a test does.
var actions = map[string]func(*session.Store) error{
	"create": func(store *session.Store) error {
		s, err := store.Create(ctx, session.New{ID: "s", Title: "new"})
		if err != nil {
			return err
		}
		return s.Release()
	},
	"declare": on(func(s *session.Session) error { _, err := s.Declare(ctx, merge); return err }),
	"archive": on(func(s *session.Session) error { return s.Archive(ctx) }),
	"begin":   on(func(s *session.Session) error { return s.BeginLaunch(ctx, merge) }),
	"heal":    on(heal),
	"finish":  on(func(s *session.Session) error { _, err := s.FinishLaunch(ctx); return err }),
	"fail":    on(func(s *session.Session) error { return s.FailLaunch(ctx) }),
	"close":   on(func(s *session.Session) error { return s.Close(ctx) }),
	"race":    on(race),
	"waiting": on(waiting),
	"build":   build,
	"list":    list,
	"keep":    on(func(s *session.Session) error { return keep(s, "after") }),

	"create many": createMany,
}

func on(f func(s *session.Session) error) func(*session.Store) error {
	return func(store *session.Store) error {
		s, err := store.Open("s")
		if err != nil {
			return err
		}
		return errors.Join(f(s), s.Release())
	}
}

// eachDeath runs the action on a fresh store for each of its steps, in a process
// that dies there, and then after.
func eachDeath(t *testing.T, action string, before func(*session.Store), after func(t *testing.T, store *session.Store)) {
	for nth := 1; ; nth++ {
		store := newStore(t)
		before(store)
		if !dies(t, store, action, nth) {
			if nth == 1 {
				t.Fatalf("%s has no step", action)
			}
			return
		}
		after(t, store)
		if t.Failed() {
			t.Fatalf("%s: that was the death at step %d", action, nth)
		}
	}
}

// After a death anywhere in a declaration, record and log agree at the next use,
// with the declaration in both or in neither, and once.
func TestDeathInDeclare(t *testing.T) {
	for name, heal := range map[string]func(t *testing.T, s *session.Session){
		"then the same":   func(t *testing.T, s *session.Session) { declare(t, s, merge) },
		"then another":    func(t *testing.T, s *session.Session) { declare(t, s, active) },
		"then an archive": func(t *testing.T, s *session.Session) { check(t, s.Archive(ctx)) },
		"then a message": func(t *testing.T, s *session.Session) {
			lock := held(t, s)
			check(t, s.Heal(ctx, lock))
			_, err := s.Timeline().Write(lock, timeline.Sent{MID: "m", Text: "hello"})
			check(t, errors.Join(err, lock.Release()))
		},
		"then a message by who does not heal": func(t *testing.T, s *session.Session) {
			_, err := s.Timeline().Append(ctx, timeline.Sent{MID: "m", Text: "hello"})
			check(t, err)
			check(t, s.Archive(ctx))
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachDeath(t, "declare", func(store *session.Store) { declare(t, create(t, store, "s"), asking) }, func(t *testing.T, store *session.Store) {
				s := open(t, store, "s")
				want := []session.Declaration{asking}
				if record(t, s).Authored() == merge {
					want = append(want, merge)
				}
				heal(t, s)
				if now := record(t, s).Authored(); now != want[len(want)-1] {
					want = append(want, now)
				}
				if got := declarations(t, s); words(got) != words(want) {
					t.Errorf("got events %s, want %s", words(got), words(want))
				}
			})
		})
	}
}

func TestDeathInCreate(t *testing.T) {
	eachDeath(t, "create", func(*session.Store) {}, func(t *testing.T, store *session.Store) {
		s, err := store.Open("s")
		if err == nil {
			released(t, s, nil)
			if r := record(t, s); r.Title != "new" || r.ID != "s" {
				t.Errorf("got %+v, want a whole session", r)
			}
			_, err = store.Create(ctx, session.New{ID: "s"})
			wantError(t, err, session.ErrExists)
		} else {
			wantError(t, err, session.ErrNotFound)
			s = create(t, store, "s")
		}
		declare(t, s, active)
		create(t, store, "other")
		staged(t, store, 0)
	})
}

func TestDeathInClose(t *testing.T) {
	eachDeath(t, "close", func(store *session.Store) { declare(t, create(t, store, "s"), asking) }, func(t *testing.T, store *session.Store) {
		s, err := store.Open("s")
		if err == nil {
			released(t, s, nil)
			declare(t, s, merge)
			if got, want := words(declarations(t, s)), words([]session.Declaration{asking, merge}); got != want {
				t.Errorf("got events %s, want %s", got, want)
			}
			check(t, s.Close(ctx))
		} else {
			wantError(t, err, session.ErrNotFound)
		}
		if _, ok, err := store.Closed("s"); !ok || err != nil {
			t.Errorf("got closed %v, %v", ok, err)
		}
		next := create(t, store, "s")
		staged(t, store, 0)
		if got := declarations(t, next); len(got) != 0 {
			t.Errorf("got events %v in a new life", got)
		}
	})
}

func TestDeathInArchive(t *testing.T) {
	eachDeath(t, "archive", func(store *session.Store) { declare(t, create(t, store, "s"), asking) }, func(t *testing.T, store *session.Store) {
		s := open(t, store, "s")
		if r := record(t, s); r.Authored() != asking {
			t.Errorf("got %+v", r)
		}
		check(t, s.Archive(ctx))
		if got := words(declarations(t, s)); got != words([]session.Declaration{asking}) || !record(t, s).Archived {
			t.Errorf("got events %s, record %+v", got, record(t, s))
		}
	})
}

func TestDeathInLaunch(t *testing.T) {
	for action, end := range map[string]session.Declaration{"begin": asking, "fail": asking, "finish": merge} {
		t.Run(action, func(t *testing.T) {
			before := func(store *session.Store) {
				s := create(t, store, "s")
				declare(t, s, asking)
				if action != "begin" {
					check(t, s.BeginLaunch(ctx, merge))
				}
			}
			eachDeath(t, action, before, func(t *testing.T, store *session.Store) {
				s := open(t, store, "s")
				if shown := record(t, s).Authored(); shown != asking && shown != end {
					t.Errorf("got %+v", shown)
				}
				if action == "finish" {
					_, err := s.FinishLaunch(ctx)
					check(t, err)
				}
				check(t, s.FailLaunch(ctx))
				want := []session.Declaration{asking}
				if end != asking {
					want = append(want, end)
				}
				if got := declarations(t, s); words(got) != words(want) || record(t, s).Authored() != end {
					t.Errorf("got events %s, record %+v, want %s", words(got), record(t, s), words(want))
				}
			})
		})
	}
}

// heal repairs the log under the lock, as dispatch does.
func heal(s *session.Session) error {
	held, err := s.Locks().Record(ctx)
	if err != nil {
		return err
	}
	return errors.Join(s.Heal(ctx, held), held.Release())
}

// A death in the repair of a declaration is repaired like the first one.
func TestDeathInHeal(t *testing.T) {
	before := func(store *session.Store) {
		s := create(t, store, "s")
		declare(t, s, active)
		declare(t, s, session.Declaration{Status: "asking"})
		lock := held(t, s)
		check(t, lock.Begin())
		rewrite(t, s, "parked", `{"seq":7,"ts":"2026-07-16T00:00:05.000Z"}`)
		check(t, lock.Release())
	}
	eachDeath(t, "heal", before, func(t *testing.T, store *session.Store) {
		s := open(t, store, "s")
		check(t, s.Archive(ctx))
		if got := statuses(t, s); got != "active asking parked" {
			t.Errorf("got %q", got)
		}
	})
}
