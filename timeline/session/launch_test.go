package session_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/docket-go/docket/timeline/session"
)

func TestLaunch(t *testing.T) {
	starting := session.Declaration{Status: "starting"}
	for _, tt := range []struct {
		name   string
		launch session.Declaration
		end    func(t *testing.T, s *session.Session)
		want   []session.Declaration // after asking
		shown  session.Declaration
	}{
		{"it works", active, finish(true), []session.Declaration{active}, active},
		{"it works and nothing moved", asking, finish(false), nil, asking},
		{"it fails", active, fail, nil, asking},
		{"the agent speaks", starting, says(merge, true), []session.Declaration{merge}, merge},
		{"the agent says what it said before", starting, says(asking, false), nil, asking},
		{"it begins twice", active, func(t *testing.T, s *session.Session) {
			check(t, s.BeginLaunch(ctx, starting))
			fail(t, s)
		}, nil, asking},
		{"it ends twice", active, func(t *testing.T, s *session.Session) {
			finish(true)(t, s)
			finish(false)(t, s)
			fail(t, s)
		}, []session.Declaration{active}, active},
		{"its session retires", active, func(t *testing.T, s *session.Session) {
			check(t, s.Retire(ctx))
			_, err := s.FinishLaunch(ctx)
			wantError(t, err, session.ErrRetired)
			fail(t, s)
		}, nil, asking},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := create(t, newStore(t), "s")
			declare(t, s, asking)
			check(t, s.BeginLaunch(ctx, tt.launch))
			r := record(t, s)
			if !r.Launching || r.Authored() != asking || r.Status != tt.launch.Status {
				t.Errorf("got %+v, want a pending launch that shows what was before", r)
			}
			if got := words(declarations(t, s)); got != words([]session.Declaration{asking}) {
				t.Errorf("got events %s, want none of the launch", got)
			}
			tt.end(t, s)
			r = record(t, s)
			if r.Launching || r.Authored() != tt.shown {
				t.Errorf("got %+v, want %+v", r, tt.shown)
			}
			want := words(append([]session.Declaration{asking}, tt.want...))
			if got := words(declarations(t, s)); got != want {
				t.Errorf("got events %s, want %s", got, want)
			}
		})
	}
}

func finish(moved bool) func(*testing.T, *session.Session) {
	return func(t *testing.T, s *session.Session) {
		t.Helper()
		answer, err := s.FinishLaunch(ctx)
		check(t, err)
		if answer.Moved != moved {
			t.Errorf("got %+v, want moved %v", answer, moved)
		}
	}
}

func fail(t *testing.T, s *session.Session) {
	t.Helper()
	check(t, s.FailLaunch(ctx))
}

func says(d session.Declaration, moved bool) func(*testing.T, *session.Session) {
	return func(t *testing.T, s *session.Session) {
		t.Helper()
		if got := declare(t, s, d); got.Moved != moved {
			t.Errorf("got %+v, want moved %v", got, moved)
		}
	}
}

// Another program notes a launch without what was declared before; the log has it.
func TestLaunchOfAnotherProgram(t *testing.T) {
	for name, tt := range map[string]struct {
		end  func(*testing.T, *session.Session)
		want string
	}{
		"it works": {finish(true), "asking active"},
		"it fails": {fail, "asking"},
		"it spoke": {says(session.Declaration{Status: "asking"}, false), "asking"},
	} {
		t.Run(name, func(t *testing.T) {
			s := create(t, newStore(t), "s")
			declare(t, s, session.Declaration{Status: "asking"})
			path := filepath.Join(s.Dir(), "session.json")
			data, err := os.ReadFile(path)
			check(t, err)
			data = bytes.Replace(data, []byte(`"status": "asking"`), []byte(`"launch_readiness_pending": true, "status": "active"`), 1)
			check(t, os.WriteFile(path, data, 0o600))
			lock := held(t, s)
			check(t, lock.Begin()) // interrupted, so that record and log are compared
			check(t, lock.Release())
			tt.end(t, s)
			if got := statuses(t, s); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if r := record(t, s); r.Launching {
				t.Errorf("got %+v, want the launch to be over", r)
			}
		})
	}
}
