package fleet

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
	"github.com/docket-go/docket/timeline/watch"
)

// rootKey is the key of the watch on the directory that holds the sessions'.
const rootKey = -1

// A follower is one running iteration of Follow.
type follower struct {
	ctx     context.Context
	store   *session.Store
	root    string
	options Options
	yield   func(Update, error) bool
	set     *watch.Set
	rootAt  int // what is watched of the root; see watchRoot

	members []*member // by slot; nil where a session left, or another's place is kept
	index   map[string]*member
	free    []int
	queue   []*member // to be read
	looker  timeline.Looker
	next    Cursor

	round uint64 // of listing the store

	departed []departure
}

// A departure is a session of a cursor that has left before the start. Until that is
// told, cursors keep its place, so that whoever goes on from one is told as well.
type departure struct {
	place
	slot int
}

// prepare looks at all sessions and begins to watch them, in this order for each: so
// that what happens in between is noticed.
func prepare(ctx context.Context, store *session.Store, o Options) (*follower, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	f := &follower{
		ctx: ctx, store: store, root: store.SessionsDir(), options: o,
		set: watch.NewSet(o.Poll), index: map[string]*member{}, next: Cursor{valid: true},
	}
	f.watchRoot()
	ids, err := f.list(ctx)
	if err == nil {
		slices.Sort(ids)
		for _, id := range ids {
			f.enlist(id)
		}
		err = f.start(f.lookAround())
	}
	if err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

func (f *follower) close() { f.set.Close() }

// watchRoot watches the directory that holds the sessions', or the nearest one above
// that is there. What is made between the look for a nearer one and the watch is not
// told of, so it looks again behind the watch.
func (f *follower) watchRoot() {
	store := f.store.Dir()
	dirs := []string{f.root, store, filepath.Dir(store)}
	for {
		f.rootAt = f.set.AddNames(rootKey, dirs...)
		if f.rootAt <= 0 || !exists(dirs[f.rootAt-1]) {
			return
		}
	}
}

func (f *follower) run() error {
	if err := f.catchUp(); err != nil {
		return err
	}
	for {
		heard, err := f.hear()
		if err != nil {
			return err
		}
		if err := f.heed(heard); err != nil {
			return err
		}
		if len(f.queue) == 0 {
			continue
		}
		m := f.queue[0]
		f.queue[0] = nil
		f.queue = f.queue[1:]
		m.queued = false
		if f.index[m.id] != m {
			continue // it left
		}
		f.set.News()
		if err := f.read(m, turn); err != nil {
			return err
		}
	}
}

// hear waits for news, unless there is something to read.
func (f *follower) hear() (watch.Heard, error) {
	if len(f.queue) == 0 {
		f.queue = nil
		return f.set.Wait(f.ctx)
	}
	heard, _ := f.set.Take()
	return heard, f.ctx.Err()
}
