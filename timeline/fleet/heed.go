package fleet

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/docket-go/docket/timeline/session"
	"github.com/docket-go/docket/timeline/watch"
)

// heed notes which sessions are to be read for what was heard.
func (f *follower) heed(h watch.Heard) error {
	roundTrip := h.All || h.Deaf && f.rootAt < 0
	for _, key := range h.Keys {
		if key == rootKey {
			roundTrip = true
		} else if m := f.members[key]; m != nil {
			m.lost = m.lost || f.set.Lost(key)
			f.enqueue(m)
		}
	}
	for _, name := range h.Names {
		if f.rootAt != 0 {
			roundTrip = true // the directory that is watched is one above
		} else if session.ValidID(name) == nil && f.options.matches(name) {
			f.arrive(name)
		}
	}
	if h.All || h.Deaf {
		f.look(h.All)
	}
	if roundTrip {
		return f.listAnew()
	}
	return nil
}

// look looks at the members that are not watched, or at all.
func (f *follower) look(all bool) {
	for slot, m := range f.members {
		if m == nil || m.queued || !all && !m.deaf {
			continue
		}
		if all && (m.deaf || f.set.Lost(slot)) {
			f.watch(m)
		}
		if f.moved(m, all) {
			f.enqueue(m)
		}
	}
}

// listAnew compares the members with what the store holds.
func (f *follower) listAnew() error {
	if f.rootAt != 0 || f.set.Lost(rootKey) {
		f.watchRoot()
	}
	f.round++
	ids, err := f.list(f.ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if f.index[id] == nil {
			f.arrive(id)
		}
		if m := f.index[id]; m != nil {
			m.round = f.round
		}
	}
	for _, m := range f.members {
		if m != nil && m.round != f.round {
			f.enqueue(m)
		}
	}
	return nil
}

// list returns the sessions to follow that the store holds now.
func (f *follower) list(ctx context.Context) (ids []string, err error) {
	if f.options.plain() {
		for _, id := range f.options.Match {
			if info, err := os.Lstat(f.dirOf(id)); err == nil && info.IsDir() {
				ids = append(ids, id)
			}
		}
		return slices.Compact(slices.Sorted(slices.Values(ids))), nil
	}
	for id, err := range f.store.IDs(ctx) {
		if err != nil {
			return nil, fmt.Errorf("fleet: %w", err)
		}
		if f.options.matches(id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}
