package feed

import (
	"context"
	"maps"
	"os"
	"slices"

	"github.com/docket-go/docket/cmd/docket/internal/top"
)

// patrolSize bounds the sessions without notification that are looked at in a round,
// beside those on the terminal.
const patrolSize = 1000

// look watches a session's directory and then looks at the session, so that no change
// is missed between the two.
func (t *tracker) look(ctx context.Context, id string) (top.Row, bool) {
	row, there := t.feed.look(ctx, id, func(dir string) { t.note(t.know(id, dir)) })
	if !there {
		t.forget(id)
		return row, false
	}
	if k := t.known(id); k != nil {
		t.mu.Lock()
		k.owes = row.Owed > 0 || row.Bad != ""
		if delete(t.moving, id); row.Handing || row.Works {
			t.moving[id] = true
		}
		t.mu.Unlock()
	}
	return row, true
}

func (t *tracker) known(id string) *tracked {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sessions[id]
}

// know returns what is known of a session, of which nothing was until now.
func (t *tracker) know(id, dir string) *tracked {
	t.mu.Lock()
	defer t.mu.Unlock()
	if k := t.sessions[id]; k != nil {
		return k
	}
	t.keys++
	k := &tracked{key: t.keys, dir: dir, deaf: true}
	t.sessions[id], t.ids[k.key] = k, id
	return k
}

// note notes how the directory is before a look, and sees that it is watched.
func (t *tracker) note(k *tracked) {
	if k.deaf || t.set.Lost(k.key) {
		deaf := t.set.Add(k.key, k.dir) < 0
		t.mu.Lock()
		k.deaf = deaf
		t.mu.Unlock()
	}
	if info, err := os.Stat(k.dir); err == nil {
		t.mu.Lock()
		k.changed = info.ModTime()
		t.mu.Unlock()
	}
}

func (t *tracker) forget(id string) {
	t.mu.Lock()
	k := t.sessions[id]
	if k != nil {
		delete(t.sessions, id)
		delete(t.moving, id)
		delete(t.ids, k.key)
	}
	t.mu.Unlock()
	if k != nil {
		t.set.Remove(k.key)
	}
}

// listen marks the sessions whose directories change, until ctx ends.
func (t *tracker) listen(ctx context.Context) {
	for {
		heard, err := t.set.Wait(ctx)
		if err != nil {
			return
		}
		for _, key := range heard.Keys {
			t.mu.Lock()
			id := t.ids[key]
			t.mu.Unlock()
			if id != "" {
				t.mark(id)
			}
		}
		if heard.All || heard.Deaf {
			t.patrol(heard.All)
		}
	}
}

// attend marks every now and then the sessions to which a message is being handed over,
// and those whose agent is at work, until ctx ends: the death of who hands over, and the
// end of a turn, change nothing in the directory.
func (t *tracker) attend(ctx context.Context) {
	for rest(ctx, t.poll) {
		t.mu.Lock()
		ids := slices.Collect(maps.Keys(t.moving))
		t.mu.Unlock()
		for _, id := range ids {
			t.mark(id)
		}
	}
}

// patrol marks the sessions that may have changed, of those of which nothing is
// notified, or of all of them. A record and a list of debts appear and go with a change
// of the directory; a list that is there may change without one.
func (t *tracker) patrol(all bool) {
	var round []string
	t.mu.Lock()
	for id, k := range t.sessions {
		if all || k.deaf {
			round = append(round, id)
		}
	}
	t.mu.Unlock()
	if !all && len(round) > patrolSize {
		round = append(t.visible(), part(round, t.turn, patrolSize)...)
		t.turn++
	}
	for _, id := range round {
		if k := t.known(id); k != nil && t.changed(k) {
			t.mark(id)
		}
	}
}

// changed reports whether a session may have changed since it was looked at.
func (t *tracker) changed(k *tracked) bool {
	t.mu.Lock()
	seen, owes := k.changed, k.owes
	t.mu.Unlock()
	info, err := os.Stat(k.dir)
	return owes || err != nil || !info.ModTime().Equal(seen)
}

// part returns the n ids whose turn it is: each one comes once in as many turns as are
// needed for all.
func part(ids []string, turn, n int) []string {
	slices.Sort(ids)
	parts := (len(ids) + n - 1) / n
	from := turn % parts * n
	return ids[from:min(from+n, len(ids))]
}
