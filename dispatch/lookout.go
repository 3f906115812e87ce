package dispatch

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/docket-go/docket/timeline/session"
)

// notifies says whether watching a directory is cheap. Elsewhere than on Linux a
// watched directory takes a descriptor, in part one for each file in it, and the
// passes would soon have none left.
const notifies = runtime.GOOS == "linux"

// A sighting is what was seen of a session.
type sighting struct {
	id      string
	owes    bool
	touched bool // something in its directory has changed
}

// A lookout finds the sessions that owe something: a patrol goes round all of them,
// and where there is notification it listens between two rounds.
type lookout struct {
	s       *Sweeper
	root    string // the directory that holds the sessions'
	found   chan sighting
	tender  *tender
	watcher *fsnotify.Watcher // nil means that there is no notification
	bell    chan struct{}     // for the patrol: something is fresh or lost

	// These belong to the patrol.
	polled   map[string]bool // sessions without notification that owed something in the last round
	deep     time.Time       // when unfinished changes were last looked for; zero means never
	full     bool            // the system refused a watch in this round
	told     bool            // that was logged
	unlisted string          // the last error of listing the store that was logged

	mu      sync.Mutex
	watched map[string]bool // by id; the empty one stands for root
	fresh   map[string]bool // sessions that were made since the patrol looked
	lost    bool            // notifications may be missing
}

func newLookout(s *Sweeper) *lookout {
	l := &lookout{
		s: s, root: s.d.store.SessionsDir(), found: make(chan sighting), bell: make(chan struct{}, 1),
		watched: map[string]bool{}, fresh: map[string]bool{}, tender: newTender(s),
	}
	if s.newWatcher == nil {
		return l
	}
	w, err := s.newWatcher()
	if err != nil {
		l.tell(err)
		return l
	}
	l.watcher = w
	return l
}

// close ends the notification. The watcher may hold what its Close needs until an error
// that it tells of is read; and the listener has ended.
func (l *lookout) close() {
	if l.watcher == nil {
		return
	}
	closed := make(chan struct{})
	go func() {
		l.watcher.Close()
		close(closed)
	}()
	events, errs := l.watcher.Events, l.watcher.Errors
	for {
		open := true
		select {
		case _, open = <-events:
		case _, open = <-errs:
		case <-closed:
			return
		}
		if !open {
			events, errs = nil, nil
		}
	}
}

// tell logs once that there is less notification than there should be.
func (l *lookout) tell(err error) {
	if !l.told {
		l.s.options.Logger.Warn("not all changes are notified: sessions are looked at one by one",
			"every", l.s.options.Poll, "error", err)
	}
	l.told = true
}

// report hands a sighting to the loop.
func (l *lookout) report(ctx context.Context, s sighting) {
	select {
	case l.found <- s:
	case <-ctx.Done():
	}
}

// patrol goes round all sessions again and again. It ends with ctx's error, or with
// that of the very first round.
func (l *lookout) patrol(ctx context.Context) error {
	o := l.s.options
	for first := true; ; first = false {
		begun := time.Now()
		whole, err := l.round(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && first {
			return err
		}
		l.unlist(err)
		pace := o.Interval
		if !whole {
			pace = min(o.Poll, o.Interval)
		}
		if err := l.pause(ctx, max(pace, 50*time.Since(begun))); err != nil {
			return err
		}
	}
}

// unlist logs that the store could not be listed, once for each reason.
func (l *lookout) unlist(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != "" && text != l.unlisted {
		l.s.options.Logger.Warn("the store cannot be listed", "error", text)
	}
	l.unlisted = text
}

// round looks at each session once. It reports whether every change from now on
// will be notified. That a session owes nothing any more is reported only where
// nothing else tells it: it is older than what a notification says.
func (l *lookout) round(ctx context.Context) (whole bool, err error) {
	before, now := l.polled, time.Now()
	l.polled, l.full = map[string]bool{}, false
	deep := l.deep.IsZero() || now.Sub(l.deep) >= l.s.options.Interval
	if deep {
		l.deep = now
	}
	whole = l.watch("", l.root)
	for id, err := range l.s.d.store.IDs(ctx) {
		if err != nil {
			return false, err
		}
		whole = l.look(ctx, id, deep) && whole
	}
	for id := range before {
		if !l.polled[id] {
			l.report(ctx, sighting{id: id})
		}
	}
	l.s.d.handles.leave()
	return whole, nil
}

// look looks at one session, after it has seen to it that later changes are
// notified, and reports whether they will be.
func (l *lookout) look(ctx context.Context, id string, deep bool) bool {
	dir := l.s.dirOf(id)
	l.tender.wants(id)
	watched := l.watch(id, dir)
	if owes(dir, deep) {
		if !watched {
			l.polled[id] = true
		}
		l.report(ctx, sighting{id: id, owes: true})
	}
	return watched
}

// pause waits for the next round, and looks at new sessions meanwhile. If
// notifications are lost the round comes sooner.
func (l *lookout) pause(ctx context.Context, wait time.Duration) error {
	next := time.NewTimer(wait)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-next.C:
			return nil
		case <-l.bell:
		}
		fresh, lost := l.news()
		for id := range fresh {
			if !l.look(ctx, id, true) {
				lost = true
			}
		}
		if lost && l.s.options.Poll < wait {
			wait = l.s.options.Poll
			next.Reset(wait)
		}
	}
}

// watch sees to it that changes in dir are notified, and reports whether they are.
// A session that is gone needs no watch.
func (l *lookout) watch(id, dir string) bool {
	switch {
	case l.watcher == nil:
		return false
	case !l.claim(id):
		return true
	case l.full:
		l.forget(id)
		return false
	}
	info, err := os.Lstat(dir)
	if err == nil && !info.IsDir() {
		err = fs.ErrNotExist
	}
	if err == nil {
		err = l.s.addWatch(l.watcher, dir)
	}
	if err == nil {
		return true
	}
	l.forget(id)
	if errors.Is(err, fs.ErrNotExist) {
		return id != ""
	}
	l.full = true
	l.tell(err)
	return false
}

// listen turns notifications into sightings. It never adds a watch itself: the
// watcher may wait for its errors to be read before it lets one be added.
func (l *lookout) listen(ctx context.Context) {
	if l.watcher == nil {
		return
	}
	for {
		select {
		case <-ctx.Done():
			return
		case e, open := <-l.watcher.Events:
			if !open {
				return
			}
			l.hear(ctx, e)
		case err, open := <-l.watcher.Errors:
			if !open {
				return
			}
			if errors.Is(err, fsnotify.ErrEventOverflow) {
				l.lose()
			}
		}
	}
}

// hear places one notification: it is about the root, a session's directory or
// something in it.
func (l *lookout) hear(ctx context.Context, e fsnotify.Event) {
	if e.Op == fsnotify.Chmod {
		return
	}
	parent, touched := filepath.Dir(e.Name), false
	id := filepath.Base(e.Name)
	if parent != l.root {
		id, parent, touched = filepath.Base(parent), filepath.Dir(parent), true
	}
	switch {
	case e.Name == l.root:
		l.lose()
		return
	case parent != l.root || session.ValidID(id) != nil:
		return
	case !touched && e.Has(fsnotify.Create):
		l.welcome(id)
		return
	case !touched:
		l.forget(id)
		l.s.d.handles.leave(id)
	}
	l.tender.wants(id)
	l.report(ctx, sighting{id: id, owes: owes(l.s.dirOf(id), false), touched: touched})
}

// claim notes that a session is watched, and reports whether it was not before.
func (l *lookout) claim(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.watched[id] {
		return false
	}
	l.watched[id] = true
	return true
}

func (l *lookout) forget(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.watched, id)
}

// lose notes that nothing is sure to be watched any more.
func (l *lookout) lose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.watched)
	l.lost = true
	l.ring()
}

// welcome notes that a session was made; it may bear the id of an earlier one.
func (l *lookout) welcome(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.watched, id)
	l.fresh[id] = true
	l.ring()
}

func (l *lookout) ring() {
	select {
	case l.bell <- struct{}{}:
	default:
	}
}

// news returns, and forgets, what the listener has noted for the patrol.
func (l *lookout) news() (fresh map[string]bool, lost bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fresh, lost = l.fresh, l.lost
	l.fresh, l.lost = map[string]bool{}, false
	return fresh, lost
}
