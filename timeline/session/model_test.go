package session_test

import (
	"testing"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
	"pgregory.net/rapid"
)

// A model is what a session has to be: what it shows, and every move of that.
type model struct {
	shown, internal    session.Declaration
	launching, retired bool
	moves              []session.Declaration
}

func (m *model) declare(d session.Declaration) (moved bool) {
	moved = d != m.shown
	m.shown, m.launching = d, false
	if moved {
		m.moves = append(m.moves, d)
	}
	return moved
}

var declaration = rapid.SampledFrom([]session.Declaration{active, asking, merge, nothing, {Status: session.StatusAsking, Note: "other"}})

// The events of the log are exactly the moves of what the record shows. It is long
// because one table holds everything that can happen to a session.
func TestSessionAgainstModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		store, err := session.OpenStore(t.TempDir(), session.Options{Timeline: timeline.Options{Buffered: true}})
		check(rt, err)
		s, err := store.Create(ctx, session.New{ID: "s"})
		check(rt, err)
		defer func() { check(rt, s.Release()) }()
		var m model
		rt.Repeat(map[string]func(*rapid.T){
			"declare": func(rt *rapid.T) {
				d := declaration.Draw(rt, "declaration")
				answer, err := s.Declare(ctx, d)
				if m.retired {
					wantError(rt, err, session.ErrRetired)
					return
				}
				check(rt, err)
				if want := m.declare(d); answer.Moved != want {
					rt.Fatalf("got moved %v, want %v", answer.Moved, want)
				}
			},
			"begin launch": func(rt *rapid.T) {
				d := declaration.Draw(rt, "declaration")
				err := s.BeginLaunch(ctx, d)
				if m.retired {
					wantError(rt, err, session.ErrRetired)
					return
				}
				check(rt, err)
				m.launching, m.internal = true, d
			},
			"finish launch": func(rt *rapid.T) {
				answer, err := s.FinishLaunch(ctx)
				if m.launching && m.retired {
					wantError(rt, err, session.ErrRetired)
					return
				}
				check(rt, err)
				if want := m.launching && m.declare(m.internal); answer.Moved != want {
					rt.Fatalf("got moved %v, want %v", answer.Moved, want)
				}
			},
			"fail launch": func(rt *rapid.T) {
				check(rt, s.FailLaunch(ctx))
				m.launching = false
			},
			"open again": func(rt *rapid.T) {
				check(rt, s.Release())
				var err error
				s, err = store.Open("s")
				check(rt, err)
			},
			"archive": func(rt *rapid.T) { check(rt, s.Archive(ctx)) },
			"retire": func(rt *rapid.T) {
				if rapid.IntRange(0, 9).Draw(rt, "seldom") == 0 {
					check(rt, s.Retire(ctx))
					m.retired = true
				}
			},
			"": func(rt *rapid.T) { m.matches(rt, s) },
		})
	})
}

func (m *model) matches(rt *rapid.T, s *session.Session) {
	rt.Helper()
	r := record(rt, s)
	if r.Authored() != m.shown || r.Launching != m.launching || r.Retired != m.retired {
		rt.Fatalf("got %+v, want %+v", r, m)
	}
	if got, want := words(declarations(rt, s)), words(m.moves); got != want {
		rt.Fatalf("got events %s, want %s", got, want)
	}
}
