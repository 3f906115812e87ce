package session_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/lock/step"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

// lives returns how many lives of an id the store has closed.
func lives(t failer, store *session.Store, id string) uint64 {
	t.Helper()
	c, _, err := store.Closed(id)
	if err != nil {
		t.Fatalf("closed: %v", err)
	}
	return c.Lives
}

// wantLife fails unless the session is in that life and all before it are closed.
func wantLife(t failer, store *session.Store, s *session.Session, want uint64) {
	t.Helper()
	if life, closed := record(t, s).Life, lives(t, store, s.ID()); life != want || closed != want {
		t.Fatalf("got life %d and %d closed, want %d", life, closed, want)
	}
}

// Lives are counted; the clock, which runs backwards here, has no part in it.
func TestLives(t *testing.T) {
	now := time.Date(2026, 7, 16, 0, 0, 0, 0, time.UTC)
	store, err := session.OpenStore(t.TempDir(), session.Options{Now: func() time.Time { return now }})
	check(t, err)
	for life := range uint64(3) {
		s := create(t, store, "s")
		declare(t, s, asking)
		check(t, s.Archive(ctx))
		check(t, s.Update(ctx, func(r *session.Record) error { r.Title = "t"; return nil }))
		wantLife(t, store, s, life)
		data, err := os.ReadFile(filepath.Join(s.Dir(), "session.json"))
		check(t, err)
		if strings.Contains(string(data), `"life"`) != (life > 0) {
			t.Errorf("life %d: got %s", life, data)
		}
		wantError(t, s.Update(ctx, func(r *session.Record) error { r.Life++; return nil }), session.ErrField)
		check(t, s.Close(ctx))
		if c, ok, err := store.Closed("s"); !ok || err != nil || c.Lives != life+1 || !c.At.Equal(now) {
			t.Errorf("life %d: got %+v, %v, %v", life, c, ok, err)
		}
		now = now.Add(-time.Hour)
	}
	wantLife(t, store, create(t, store, "other"), 0)
}

// quickStore returns a store that syncs nothing.
func quickStore(t *testing.T) *session.Store {
	t.Helper()
	store, err := session.OpenStore(t.TempDir(), session.Options{Timeline: timeline.Options{Buffered: true}})
	check(t, err)
	return store
}

func putMark(t failer, store *session.Store, id, content string) {
	t.Helper()
	path := filepath.Join(store.Dir(), "closed", id)
	check(t, os.MkdirAll(filepath.Dir(path), 0o700))
	check(t, os.RemoveAll(path))
	switch content {
	case "directory":
		check(t, os.MkdirAll(filepath.Join(path, "x"), 0o700))
	case "link":
		check(t, os.Symlink("/dev/zero", path))
	default:
		check(t, os.WriteFile(path, []byte(content), 0o600))
	}
}

func TestMarkWithoutLives(t *testing.T) {
	store := newStore(t)
	putMark(t, store, "s", `{"session":"s","closedAt":"2026-07-16T00:00:00Z"}`)
	wantLife(t, store, create(t, store, "s"), 1)
}

var badMarks = []string{
	"", "{", "{}", "directory", "link", strings.Repeat("\x00", 64), strings.Repeat(" ", 5000),
	`{"session":"other","closedAt":"2026-07-16T00:00:00Z","lives":2}`, `{"session":"s","closedAt":"2026-07-16T00:00:00Z","lives":-1}`,
	`{"session":"s","closedAt":"2026-07-16T00:00:00Z","lives":18446744073709551615}`,
}

// A damaged mark costs neither the id nor the order of its lives.
func TestLifeAfterADamagedMark(t *testing.T) {
	for _, content := range badMarks {
		t.Run(fmt.Sprintf("%.20q", content), func(t *testing.T) {
			store := quickStore(t)
			check(t, create(t, store, "s").Close(ctx))
			check(t, create(t, store, "s").Close(ctx))
			putMark(t, store, "s", content)
			if _, ok, err := store.Closed("s"); !ok || !errors.Is(err, session.ErrUnreadable) {
				t.Fatalf("got %v, %v, want a mark that cannot be read", ok, err)
			}
			s := create(t, store, "s")
			life := record(t, s).Life
			if life < 2 {
				t.Fatalf("got life %d, want one above 1", life)
			}
			wantLife(t, store, s, life)
			check(t, s.Close(ctx))
			wantLife(t, store, create(t, store, "s"), life+1)
		})
	}
}

// Close closes the life that it ends, and leaves the next one open, whatever it can
// read of record and mark.
func TestCloseOverDamage(t *testing.T) {
	for _, record := range []string{"", "{", `{"session_id":"s","life":-1}`, `{"session_id":"s","life":9007199254740991}`} {
		for _, mark := range append(badMarks, "good") {
			store := quickStore(t)
			check(t, create(t, store, "s").Close(ctx))
			s := create(t, store, "s")
			if record != "" {
				check(t, os.WriteFile(filepath.Join(s.Dir(), "session.json"), []byte(record), 0o600))
			}
			if mark != "good" {
				putMark(t, store, "s", mark)
			}
			check(t, s.Close(ctx))
			closed := lives(t, store, "s")
			if closed < 2 {
				t.Fatalf("record %q, mark %.20q: got %d lives closed, want life 1 among them", record, mark, closed)
			}
			wantLife(t, store, create(t, store, "s"), closed)
		}
	}
}

// A session whose Close died after the mark is closed and still there; the next
// Close ends it.
func TestDeathAfterTheMark(t *testing.T) {
	marked := false
	eachDeath(t, "close", func(store *session.Store) { create(t, store, "s") }, func(t *testing.T, store *session.Store) {
		s, err := store.Open("s")
		if err != nil {
			return
		}
		released(t, s, nil)
		before := lives(t, store, "s")
		marked = marked || record(t, s).Life < before
		check(t, s.Close(ctx))
		after := lives(t, store, "s")
		if after < max(before, 1) {
			t.Errorf("got %d lives closed, want those that were", after)
		}
		wantLife(t, store, create(t, store, "s"), after)
	})
	if !marked {
		t.Error("no death left a session that is there and closed")
	}
}

// atStep runs do at the named step, once.
func atStep(t *testing.T, name string, do func()) {
	done := false
	t.Cleanup(step.Hook(func(at string) {
		if at == name && !done {
			done = true
			do()
		}
	}))
}

// A life that begins and ends while another Create is at work is not given twice.
func TestLifeMeanwhile(t *testing.T) {
	store := newStore(t)
	atStep(t, "session: new session.json made", func() { check(t, create(t, store, "s").Close(ctx)) })
	wantLife(t, store, create(t, store, "s"), 1)
}

// Between the last look at the mark and the name nobody else gets a name.
func TestOneNameAtATime(t *testing.T) {
	store := newStore(t)
	hasty, err := session.OpenStore(store.Dir(), session.Options{LockWait: time.Millisecond})
	check(t, err)
	atStep(t, "session: life known", func() {
		_, err := hasty.Create(ctx, session.New{ID: "s"})
		wantError(t, err, lock.ErrTimeout)
	})
	wantLife(t, store, create(t, store, "s"), 0)
}

// Whoever creates and closes one id at the same time: each session is in a life of
// its own, which is not closed before it is.
func TestLivesInARace(t *testing.T) {
	store := newStore(t)
	var mu sync.Mutex
	seen := map[uint64]bool{}
	one := func() error {
		s, err := store.Create(ctx, session.New{ID: "s"})
		if errors.Is(err, session.ErrExists) {
			return nil
		}
		if err != nil {
			return err
		}
		r, err := s.Record()
		c, _, markErr := store.Closed("s")
		mu.Lock()
		defer mu.Unlock()
		if r.Life < c.Lives || seen[r.Life] {
			err = errors.Join(err, fmt.Errorf("life %d: %d are closed, seen before %v", r.Life, c.Lives, seen[r.Life]))
		}
		seen[r.Life] = true
		return errors.Join(err, markErr, s.Close(ctx), s.Release())
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 10 {
				if err := one(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := lives(t, store, "s"); got != uint64(len(seen)) {
		t.Errorf("got %d lives closed, want %d", got, len(seen))
	}
}
