package session_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docket-go/docket/timeline/session"
)

// edit changes one field of the record behind the package's back.
func edit(t *testing.T, s *session.Session, name string, value any) {
	t.Helper()
	path := filepath.Join(s.Dir(), "session.json")
	data, err := os.ReadFile(path)
	check(t, err)
	fields := map[string]any{}
	check(t, json.Unmarshal(data, &fields))
	fields[name] = value
	data, err = json.Marshal(fields)
	check(t, errors.Join(err, os.WriteFile(path, data, 0o600)))
}

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		name string
		harm func(t *testing.T, store *session.Store, s *session.Session)
		want string // the base of the file that is named, and a part of the reason
	}{
		{"nothing", func(*testing.T, *session.Store, *session.Session) {}, ""},
		{"what a death leaves", func(t *testing.T, _ *session.Store, s *session.Session) {
			check(t, os.WriteFile(filepath.Join(s.Dir(), "session.json.new"), []byte("{"), 0o600))
		}, ""},
		{"record damaged", func(t *testing.T, _ *session.Store, s *session.Session) {
			check(t, os.WriteFile(filepath.Join(s.Dir(), "session.json"), []byte("{"), 0o600))
		}, "session.json: not JSON"},
		{"record of another", func(t *testing.T, _ *session.Store, s *session.Session) { edit(t, s, "session_id", "other") }, `session.json: session "other"`},
		{"event lost", func(t *testing.T, _ *session.Store, s *session.Session) {
			edit(t, s, "declared", map[string]any{"seq": 9, "ts": "2026-07-16T00:00:00Z"})
		}, "session.json: event 9"},
		{"another event", func(t *testing.T, _ *session.Store, s *session.Session) { edit(t, s, "status", "parked") }, "session.json: declare again"},
		{"closed and there", func(t *testing.T, store *session.Store, s *session.Session) {
			putMark(t, store, s.ID(), `{"session":"s","closedAt":"2026-07-16T00:00:00Z","lives":2}`)
		}, "session.json: close it again"},
		{"mark lost", func(t *testing.T, store *session.Store, s *session.Session) {
			check(t, os.Remove(filepath.Join(store.Dir(), "closed", "s")))
		}, "s: is not void"},
		{"mark damaged", func(t *testing.T, store *session.Store, _ *session.Session) { putMark(t, store, "s", "{") }, "s: cannot be read"},
		{"an obstacle", func(t *testing.T, _ *session.Store, s *session.Session) {
			check(t, os.MkdirAll(filepath.Join(s.Dir(), "session.json.new", "x"), 0o700))
		}, "session.json.new: remove it"},
		{"an obstacle moved aside", func(t *testing.T, _ *session.Store, s *session.Session) {
			check(t, os.MkdirAll(filepath.Join(s.Dir(), "session.json.new~X"), 0o700))
		}, "session.json.new~X: remove it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			store := quickStore(t)
			check(t, create(t, store, "s").Close(ctx))
			s := create(t, store, "s")
			declare(t, s, asking)
			tt.harm(t, store, s)
			odd, err := s.Check(ctx)
			check(t, err)
			path, reason, some := strings.Cut(tt.want, ": ")
			if !some && len(odd) == 0 {
				return
			}
			if !some || len(odd) != 1 || !strings.Contains(odd[0].Error(), "/"+path+":") && !strings.Contains(odd[0].Error(), "/"+path+" ") || !strings.Contains(odd[0].Error(), reason) {
				t.Errorf("got %v, want %q", odd, tt.want)
			}
		})
	}
}

// A record that was copied with its directory works under the new name.
func TestRecordOfAnotherSession(t *testing.T) {
	store := quickStore(t)
	s := create(t, store, "s")
	edit(t, s, "session_id", "other")
	declare(t, s, asking)
	if r := record(t, s); r.Authored() != asking || r.ID != "other" || s.ID() != "s" {
		t.Errorf("got %+v of %s, want it used and kept", r, s.ID())
	}
}

// What an interrupted declaration left is completed by the next change, and no oddity.
func TestCheckAfterADeath(t *testing.T) {
	eachDeath(t, "declare", func(store *session.Store) { declare(t, create(t, store, "s"), asking) }, func(t *testing.T, store *session.Store) {
		s := open(t, store, "s")
		if odd, err := s.Check(ctx); err != nil || len(odd) > 0 {
			t.Errorf("got %v, %v", odd, err)
		}
		check(t, s.Archive(ctx))
		if odd, err := s.Check(ctx); err != nil || len(odd) > 0 {
			t.Errorf("then: got %v, %v", odd, err)
		}
	})
}
