package fleet_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/docket-go/docket/timeline/fleet"
	"pgregory.net/rapid"
)

// A leader is one of several readers with the same name.
type leader struct {
	p     *fleet.Position
	w     *watcher
	views map[string]view // how far it has come in which life
}

// positions is a store beside how far its reader's kept position must be.
type positions struct {
	model
	kept    map[string]view
	leaders [2]*leader
}

// open begins a reader where the kept position is; what the one before it did not save
// is lost.
func (m *positions) open(k int) {
	m.die(k)
	l := &leader{p: openPosition(m.t, m.store), views: maps.Clone(m.kept)}
	o := behind(l.p)
	o.Poll = -time.Millisecond
	l.w = follow(m.t, m.store, o)
	m.leaders[k] = l
}

func (m *positions) die(k int) {
	if l := m.leaders[k]; l != nil {
		l.w.stop()
		m.check(l.p.Close())
		m.leaders[k] = nil
	}
}

// read deals with a number of updates, or with all that there are.
func (m *positions) read(k, n int) {
	l := m.leaders[k]
	if l == nil {
		return
	}
	m.create("b")
	m.append("b", 0, 1) // so that there is an end to wait for
	last := m.lives["b"]
	for ; n > 0; n-- {
		u, err, ok := l.w.next()
		if err != nil || !ok {
			m.t.Fatalf("got %v, %v", err, ok)
		}
		l.p.Advance(u)
		v := view{life: -1}
		switch {
		case u.Left:
			delete(l.views, u.Session)
		case u.Event.Text != "":
			if _, err := fmt.Sscanf(u.Event.Text, u.Session+"/%d/%d", &v.life, &v.events); err != nil {
				m.t.Fatal(err)
			}
			if was := l.views[u.Session]; was.life == v.life && was.events != v.events {
				m.t.Fatalf("got %s, want number %d", words(u), was.events)
			}
			v.events++
			l.views[u.Session] = v
			if u.Session == "b" && v.life == last.number && v.events == last.events {
				return
			}
		}
	}
}

// save moves the kept position to where a reader is, but never back.
func (m *positions) save(k int) {
	l := m.leaders[k]
	if l == nil {
		return
	}
	m.check(l.p.Save(context.Background()))
	for id, v := range l.views {
		was, known := m.kept[id]
		now := m.lives[id]
		switch {
		case known && was.life == v.life:
			v.events = max(v.events, was.events)
		case known && (now == nil || now.number != v.life):
			continue
		}
		m.kept[id] = v
	}
}

// rest is what a reader gets that begins at the kept position: of each life the
// events behind it.
func (m *positions) rest() {
	p := openPosition(m.t, m.store)
	defer p.Close()
	o := behind(p)
	o.Poll = -time.Millisecond
	w := follow(m.t, m.store, o)
	defer w.stop()
	got := map[string][]string{}
	for s := ""; s != "caught up"; {
		u, err, _ := w.next()
		m.check(err)
		if s = words(u); u.Event.Text != "" {
			got[u.Session] = append(got[u.Session], u.Event.Text)
		}
	}
	for id, l := range m.lives {
		from := 0
		if v := m.kept[id]; v.life == l.number {
			from = v.events
		}
		var want []string
		for n := from; n < l.events; n++ {
			want = append(want, fmt.Sprintf("%s/%d/%d", id, l.number, n))
		}
		if !slices.Equal(got[id], want) {
			m.t.Fatalf("%s behind the position: got %v, want %v", id, got[id], want)
		}
	}
}

// A kept position is as far as any reader with its name has saved in the life that is,
// whatever happens to the sessions and to the readers.
func TestPositionAgainstAModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "store")
		check(rt, err)
		m := &positions{model: model{t: rt, store: storeAt(rt, dir), lives: map[string]*life{}, made: map[string]int{}}, kept: map[string]view{}}
		reader := create(rt, m.store, lead)
		defer reader.Release()
		defer func() {
			for k := range m.leaders {
				m.die(k)
			}
			for _, id := range slices.Collect(maps.Keys(m.lives)) {
				m.end(id)
			}
		}()
		who := rapid.IntRange(0, len(m.leaders)-1)
		rt.Repeat(map[string]func(*rapid.T){
			"create": func(rt *rapid.T) { m.create(ids.Draw(rt, "id")) },
			"recreate": func(rt *rapid.T) {
				id := ids.Draw(rt, "id")
				m.end(id)
				m.create(id)
			},
			"close": func(rt *rapid.T) { m.end(ids.Draw(rt, "id")) },
			"append": func(rt *rapid.T) {
				m.append(ids.Draw(rt, "id"), rapid.IntRange(0, 1).Draw(rt, "writer"), rapid.IntRange(1, 9).Draw(rt, "n"))
			},
			"open": func(rt *rapid.T) { m.open(who.Draw(rt, "reader")) },
			"die":  func(rt *rapid.T) { m.die(who.Draw(rt, "reader")) },
			"read": func(rt *rapid.T) { m.read(who.Draw(rt, "reader"), rapid.IntRange(1, 20).Draw(rt, "n")) },
			"save": func(rt *rapid.T) { m.save(who.Draw(rt, "reader")) },
			"":     func(*rapid.T) { m.rest() },
		})
	})
}
