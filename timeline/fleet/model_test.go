package fleet_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/timeline/fleet"
	"github.com/docket-go/docket/timeline/session"
	"pgregory.net/rapid"
)

// A life is one life of a session's id, as the model has it.
type life struct {
	number int
	events int
	open   []*session.Session // handles, which stand for writers
}

// A view is what a reader knows of one session by the updates it got.
type view struct {
	life   int // -1 as long as no event has told
	events int
}

// A model is a store beside what it should hold, and a reader of it.
type model struct {
	t     *rapid.T
	store *session.Store
	poll  time.Duration
	lives map[string]*life
	made  map[string]int // lives so far, by id

	w        *watcher
	views    map[string]view
	caughtUp int
	saved    []fleet.Cursor
	savedAs  []map[string]view
}

var ids = rapid.SampledFrom([]string{"a", "a1", "b", "c"})

func (m *model) check(err error) {
	if err != nil {
		m.t.Fatal(err)
	}
}

func (m *model) create(id string) {
	if m.lives[id] != nil {
		return
	}
	l := &life{number: m.made[id]}
	m.made[id]++
	for i := range 2 {
		s, err := m.store.Open(id)
		if i == 0 {
			s, err = m.store.Create(context.Background(), session.New{ID: id})
		}
		m.check(err)
		l.open = append(l.open, s)
	}
	m.lives[id] = l
}

func (m *model) end(id string) {
	l := m.lives[id]
	if l == nil {
		return
	}
	m.check(l.open[0].Close(context.Background()))
	for _, s := range l.open {
		m.check(s.Release())
	}
	delete(m.lives, id)
}

func (m *model) append(id string, writer, n int) {
	l := m.lives[id]
	for range n {
		if l != nil {
			say(m.t, l.open[writer], fmt.Sprintf("%s/%d/%d", id, l.number, l.events))
			l.events++
		}
	}
}

// follow goes on from a cursor, as a reader that knows what it knew then.
func (m *model) follow(o fleet.Options, views map[string]view) {
	if m.w != nil {
		m.w.stop()
	}
	o.Poll = m.poll
	m.w, m.views, m.caughtUp = follow(m.t, m.store, o), maps.Clone(views), 0
}

// read takes updates until the reader knows what the model does.
func (m *model) read() {
	for m.caughtUp == 0 || !m.agree() {
		u, err, ok := m.w.next()
		if err != nil || !ok {
			m.t.Fatalf("got %v, %v while the reader knows %v and the store holds %v", err, ok, m.views, m.held())
		}
		m.learn(u)
		m.saved = append(m.saved, u.Next)
		m.savedAs = append(m.savedAs, maps.Clone(m.views))
	}
}

func (m *model) held() string {
	var b strings.Builder
	for id, l := range m.lives {
		fmt.Fprintf(&b, "%s:{%d %d} ", id, l.number, l.events)
	}
	return b.String()
}

func (m *model) agree() bool {
	for id, l := range m.lives {
		v, known := m.views[id]
		if !known || v.events != l.events || v.life >= 0 && v.life != l.number {
			return false
		}
	}
	return len(m.views) == len(m.lives)
}

// learn enters an update, which must follow from those before.
func (m *model) learn(u fleet.Update) {
	v, known := m.views[u.Session]
	now := m.lives[u.Session]
	switch {
	case u.CaughtUp:
		m.caughtUp++
	case u.Joined && !known:
		m.views[u.Session] = view{life: -1}
	case u.Left && known && (now == nil || v.life != now.number):
		delete(m.views, u.Session)
	case u.Joined || u.Left || !known:
		m.t.Fatalf("got %s, and knew %v, %v", words(u), v, known)
	default:
		number := 0
		if _, err := fmt.Sscanf(u.Event.Text, u.Session+"/%d/", &number); err != nil || v.life >= 0 && number != v.life {
			m.t.Fatalf("got %s in life %d: %v", words(u), v.life, err)
		}
		if want := fmt.Sprintf("%s/%d/%d", u.Session, number, v.events); u.Event.Text != want || u.Event.Seq != uint64(v.events) {
			m.t.Fatalf("got %s, want %s", words(u), want)
		}
		m.views[u.Session] = view{number, v.events + 1}
	}
	if m.caughtUp > 1 {
		m.t.Fatal("got a second mark")
	}
	if got, want := u.Next.Sessions(), slices.Sorted(maps.Keys(m.views)); !slices.Equal(got, want) {
		m.t.Fatalf("after %s: got a cursor of %v, want of %v", words(u), got, want)
	}
}

// tail begins a reader that knows of nothing but the ends.
func (m *model) tail() {
	views := map[string]view{}
	for id, l := range m.lives {
		views[id] = view{-1, l.events}
		if l.events > 0 {
			views[id] = view{l.number, l.events}
		}
	}
	m.follow(fleet.Options{Mode: fleet.TailOnly}, views)
	m.saved, m.savedAs = nil, nil
}

func (m *model) resume(i int) {
	c, err := fleet.ParseCursor(m.saved[i].String())
	m.check(err)
	m.follow(fleet.Options{Mode: fleet.After, After: c}, m.savedAs[i])
}

// Whatever happens to the sessions, a reader gets each event of each life once and in
// order, also one that goes on from any cursor that it ever got.
func TestFollowerAgainstAModel(t *testing.T) {
	both(t, func(t *testing.T, poll time.Duration) {
		rapid.Check(t, func(rt *rapid.T) {
			dir, err := os.MkdirTemp(t.TempDir(), "store")
			check(rt, err)
			m := &model{t: rt, store: storeAt(rt, dir), poll: poll, lives: map[string]*life{}, made: map[string]int{}}
			m.create("a")
			m.follow(fleet.Options{}, nil)
			m.views = map[string]view{}
			defer func() {
				m.w.stop()
				for _, id := range slices.Collect(maps.Keys(m.lives)) {
					m.end(id)
				}
			}()
			rt.Repeat(map[string]func(*rapid.T){
				"create": func(rt *rapid.T) { m.create(ids.Draw(rt, "id")) },
				"close":  func(rt *rapid.T) { m.end(ids.Draw(rt, "id")) },
				"recreate": func(rt *rapid.T) {
					id := ids.Draw(rt, "id")
					m.end(id)
					m.create(id)
				},
				"append": func(rt *rapid.T) {
					m.append(ids.Draw(rt, "id"), rapid.IntRange(0, 1).Draw(rt, "writer"), rapid.IntRange(1, 9).Draw(rt, "n"))
				},
				"seal": func(rt *rapid.T) {
					if l := m.lives[ids.Draw(rt, "id")]; l != nil {
						_, err := l.open[1].Timeline().Seal(context.Background())
						check(rt, err)
					}
				},
				"archive": func(rt *rapid.T) {
					if l := m.lives[ids.Draw(rt, "id")]; l != nil {
						check(rt, l.open[1].Archive(context.Background()))
					}
				},
				"read": func(*rapid.T) { m.read() },
				"tail": func(*rapid.T) { m.tail() },
				"resume": func(rt *rapid.T) {
					if n := len(m.saved); n > 0 {
						m.resume(rapid.IntRange(0, n-1).Draw(rt, "cursor"))
					}
				},
			})
			m.read()
		})
	})
}
