package watching_test

import (
	"errors"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/docket-go/docket/dispatch/watching"
	"github.com/docket-go/docket/lock/step"
	"github.com/docket-go/docket/timeline/session"
)

var errDied = errors.New("the process died here")

var watchers = []string{"a", "b", "c"}

// A model is who has to be told what, in plain slices and maps.
type model struct {
	*world
	watching map[string]bool // by watcher, whether also of routine work
	want     map[string][]string
	declared int
}

// Everything that a user can do, in any order, against the model; and a process that
// dies at any step, whose successor has nothing but the files.
func TestAnyOrderOfOperations(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		w.buffered = true
		w.start()
		for _, id := range append(list("s1"), watchers...) {
			w.create(id)
		}
		m := &model{world: w, watching: map[string]bool{}, want: map[string][]string{}}
		one := func(rt *rapid.T) string { return rapid.SampledFrom(watchers).Draw(rt, "watcher") }
		rt.Repeat(map[string]func(*rapid.T){
			"declare": func(rt *rapid.T) {
				note, routine := m.note(), rapid.Bool().Draw(rt, "routine")
				m.state(note, routine)
				m.stands(note, routine)
			},
			"tell": func(rt *rapid.T) { m.tell("s1"); m.check(rt, true) },
			"watch": func(rt *rapid.T) {
				by, working := one(rt), rapid.Bool().Draw(rt, "working")
				m.request("s1", watching.Request{By: by, Working: working})
				m.watching[by] = working
			},
			"unwatch": func(rt *rapid.T) {
				by := one(rt)
				if _, watches := m.watching[by]; watches {
					m.unwatch("s1", by)
					delete(m.watching, by)
				}
			},
			"close": func(rt *rapid.T) {
				by := one(rt)
				m.check(rt, false)
				m.close(by)
				m.create(by)
				delete(m.watching, by)
				delete(m.want, by)
			},
			"die":    func(rt *rapid.T) { m.die(rt, one(rt)) },
			"reopen": func(rt *rapid.T) { m.start() },
			"":       func(rt *rapid.T) { m.check(rt, false) },
		})
	})
}

func (m *model) note() string { return "note " + strconv.Itoa(m.declared) }

func (m *model) state(note string, routine bool) {
	if routine {
		m.declare("s1", note, session.StatusActive)
	} else {
		m.declare("s1", note)
	}
}

// stands notes who has to be told of a declaration.
func (m *model) stands(note string, routine bool) {
	m.declared++
	for by, working := range m.watching {
		if working || !routine {
			m.want[by] = append(m.want[by], note)
		}
	}
}

// check compares what each was told with the model; with all, nothing may be left.
func (m *model) check(rt *rapid.T, all bool) {
	for _, by := range watchers {
		got, want := m.notes(by), m.want[by]
		if len(got) > len(want) || !slices.Equal(got, want[:len(got)]) || all && len(got) < len(want) {
			rt.Fatalf("%s was told %v, want %v", by, got, want)
		}
	}
}

// die does something in a process that ends at a step of it, and then finds out from
// the files what stands. A death in a declaration itself needs another process, as in
// TestDeathAtEveryStep.
func (m *model) die(rt *rapid.T, by string) {
	at, working := rapid.IntRange(1, 25).Draw(rt, "step"), rapid.Bool().Draw(rt, "working")
	does := map[string]func(){
		"tell": func() {
			_, err := m.w.Tell(m.t.Context(), "s1", watching.TellOptions{NoDrain: true}) // passes are other goroutines
			must(m.t, err)
		},
		"watch":   func() { m.request("s1", watching.Request{By: by, Working: working}) },
		"unwatch": func() { m.unwatch("s1", by) },
	}
	what := rapid.SampledFrom([]string{"tell", "unwatch", "watch"}).Draw(rt, "what")
	if _, watches := m.watching[by]; what == "unwatch" && !watches {
		return
	}
	restore := step.Hook(func(string) {
		if at--; at == 0 {
			panic(errDied)
		}
	})
	func() {
		defer func() {
			if value := recover(); value != nil && value != errDied {
				panic(value)
			}
		}()
		does[what]()
	}()
	restore()
	m.start()
	m.tell("s1")
	delete(m.watching, by)
	all, err := m.w.List("s1")
	must(m.t, err)
	for _, x := range all {
		if x.By == by && !x.Ending && !x.Closed {
			m.watching[by] = x.Working
		}
	}
	m.check(rt, true)
}
