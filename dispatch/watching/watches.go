package watching

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

// Options configures [Watches]. The zero value is ready to use.
type Options struct {
	// Text writes the message about a declaration. Nil means [News.String]. An
	// embedder whose agents answer by other means than docket send replaces it.
	Text func(n News) string

	// Budget bounds how long [Watches.Tell] goes on to begin delivery passes. Zero
	// means [dispatch.DefaultBudget]; a negative value means as long as there are
	// watchers left.
	Budget time.Duration

	// Now is the clock. Nil means [time.Now].
	Now func() time.Time
}

// Watches are the watches of the sessions of one store. They are safe for concurrent
// use, and any number of processes may work on one store.
type Watches struct {
	store    *session.Store
	dispatch *dispatch.Dispatcher
	options  Options
}

// New returns the watches of the store, whose messages d sends. It touches no file.
func New(store *session.Store, d *dispatch.Dispatcher, o Options) *Watches {
	if o.Text == nil {
		o.Text = News.String
	}
	if o.Budget == 0 {
		o.Budget = dispatch.DefaultBudget
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Watches{store: store, dispatch: d, options: o}
}

// A span is a part of the watched timeline that one watcher is told about. Nothing of
// it ever changes but its place, which only grows, and its end, which is set once.
type span struct {
	ID      string           `json:"id"` // unlike that of any other span
	By      string           `json:"by"`
	Life    uint64           `json:"life"` // of the watcher: see [session.Record]
	Working bool             `json:"working"`
	Since   time.Time        `json:"since"`
	Place   timeline.Cursor  `json:"place"` // before the first event that is not seen to yet
	Until   *timeline.Cursor `json:"until"` // before the first event after the watch; null while it goes on
}

// A Watch is one watcher of a session.
type Watch struct {
	Session string
	By      string          // who is told
	Working bool            // also of routine work
	Since   time.Time       // when it began
	Place   timeline.Cursor // before the first event of Session that By was not told about
	Ending  bool            // it was ended, and something from before that is still to be told
	Closed  bool            // By is known to be closed: the watch goes when something would be told
}

// A Request is what [Watches.Add] takes.
type Request struct {
	By string // who is to be told: another session of the store

	// Working asks for declarations whose display word is "working" too. They are
	// routine, and come at each turn of an agent.
	Working bool

	// From is where the watch begins in the watched timeline. The zero value means
	// now, so that nothing of before is told.
	From timeline.Cursor
}

// Add makes a session watch the session id from now on, or from q.From on. Who
// watches already goes on where it was, unless q asks for something else: then the
// old watch ends here, and the new one begins behind it or at q.From. What was told
// before is never told again.
//
// Nil promises that each declaration of id from that place on becomes one message to
// q.By, as the package comment says; the watch is on stable storage. The answer is
// the watch as it is then. Refusals write nothing: [ErrSelf], [session.ErrBadID],
// [session.ErrNotFound] about either session, [session.ErrUnreadable], [ErrCorrupt],
// [ErrVersion], [timeline.ErrForeignCursor], [timeline.ErrFutureCursor], and those of
// package lock. Any number of processes may add at once. If the process dies inside,
// the watch is there or not.
func (w *Watches) Add(ctx context.Context, id string, q Request) (Watch, error) {
	if q.By == id {
		return Watch{}, fmt.Errorf("session %s: %w", id, ErrSelf)
	}
	life, err := w.lifeOf(q.By)
	if err != nil {
		return Watch{}, err
	}
	var made span
	err = w.change(ctx, id, func(s *session.Session, l list, end timeline.Cursor) (list, error) {
		from := end
		if !q.From.IsZero() {
			from = q.From
			if err := fit(ctx, s.Timeline(), from); err != nil {
				return nil, err
			}
		}
		l = slices.DeleteFunc(l, func(sp span) bool { return sp.By == q.By && sp.Life != life })
		i := slices.IndexFunc(l, func(sp span) bool { return sp.By == q.By && sp.Until == nil })
		if i >= 0 && q.From.IsZero() && l[i].Working == q.Working && !placeless(fit(ctx, s.Timeline(), l[i].Place)) {
			made = l[i]
			return l, nil
		}
		made = span{
			ID: rand.Text(), By: q.By, Life: life, Working: q.Working,
			Since: w.options.Now().UTC().Truncate(time.Millisecond), Place: from,
		}
		return append(l.ended(ctx, s.Timeline(), q.By, end), made), nil
	})
	return made.watch(id), err
}

// Remove ends the watch of by over the session id. What id declared before that is
// still told, by the next [Watches.Tell], after which nothing is left of the watch.
//
// Nil promises that nothing declared from now on is told; that is on stable storage.
// The error is [ErrNotWatching], [ErrCorrupt], [ErrVersion], [session.ErrNotFound]
// about id, or of the locks or the disk. It may be called at any time; if the process
// dies inside, the watch goes on or not.
func (w *Watches) Remove(ctx context.Context, id, by string) error {
	return w.change(ctx, id, func(s *session.Session, l list, end timeline.Cursor) (list, error) {
		if !slices.ContainsFunc(l, func(sp span) bool { return sp.By == by && sp.Until == nil }) {
			return nil, fmt.Errorf("session %s: %w: %s", id, ErrNotWatching, by)
		}
		return l.ended(ctx, s.Timeline(), by, end), nil
	})
}

// List returns who watches the session id, in the order in which they began, with those
// whose watch has ended as long as they are on the list. It takes no lock. The error is
// [ErrCorrupt], [ErrVersion], [session.ErrNotFound] or of the disk.
func (w *Watches) List(id string) ([]Watch, error) {
	s, err := w.store.Open(id)
	if err != nil {
		return nil, err
	}
	l, err := load(s)
	var all []Watch
	for _, sp := range l {
		x := sp.watch(id)
		x.Closed, _ = w.closed(sp.watcher())
		all = append(all, x)
	}
	return all, errors.Join(err, s.Release())
}

// change replaces the list of the session id by what f makes of it, under the record
// lock. Everything before end is on stable storage then.
func (w *Watches) change(ctx context.Context, id string, f func(s *session.Session, l list, end timeline.Cursor) (list, error)) error {
	s, err := w.store.Open(id)
	if err != nil {
		return err
	}
	defer s.Release()
	held, err := s.Locks().Record(ctx)
	if err != nil {
		return err
	}
	defer held.Release()
	// What was declared before may still have to become an event.
	if err := s.Heal(ctx, held); err != nil {
		return err
	}
	before, err := load(s)
	if err != nil {
		return err
	}
	end, err := s.Timeline().End(ctx)
	if err != nil {
		return err
	}
	// A place beyond what a power cut leaves would pass over what comes there later.
	if err := s.Timeline().SyncAll(ctx); err != nil {
		return err
	}
	after, err := f(s, slices.Clone(before), end)
	if err != nil || slices.Equal(before, after) {
		return err
	}
	return after.save(held, s)
}

func (sp span) watch(id string) Watch {
	return Watch{Session: id, By: sp.By, Working: sp.Working, Since: sp.Since, Place: sp.Place, Ending: sp.Until != nil}
}

// ended ends the watch of by at the place end. What has nothing to tell any more goes,
// and so does what has no place in this log.
func (l list) ended(ctx context.Context, log *timeline.Log, by string, end timeline.Cursor) list {
	for i := range l {
		if l[i].By == by && l[i].Until == nil {
			l[i].Until = &end
		}
	}
	return slices.DeleteFunc(l, func(sp span) bool {
		return sp.over() || sp.By == by && placeless(fit(ctx, log, sp.Place))
	})
}

// placeless reports that a cursor is of another log, or past the end of this one.
func placeless(err error) bool {
	return errors.Is(err, timeline.ErrForeignCursor) || errors.Is(err, timeline.ErrFutureCursor)
}

// over reports that a watch was ended, and all from before that was seen to.
func (sp span) over() bool { return sp.Until != nil && sp.Place.Seq() >= sp.Until.Seq() }
