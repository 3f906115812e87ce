package watch

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Ears are the ears of the whole process: all waiters share one notifier, and
// those of one directory share one watch.
var ears = hub{start: startNotifier}

// A notifier is what the system has to tell of changes in directories. It tells of an
// entry by its name, of the end of a directory by gone, and of both by the path that the
// directory was added under; it tells from one goroutine, in the order of events. A
// directory that is added again under the same path is the one that bears it then.
type notifier interface {
	add(dir string) error
	remove(dir string)
	close() error
}

// A hub passes what one notifier tells on to the listeners of each directory. The
// notifier runs while anybody listens.
type hub struct {
	start func(heard func(dir, name string, gone bool), lost func()) (notifier, error)

	// calls is held across calls of the notifier. They may wait until an event was
	// taken, and so the goroutine that takes events must never wait for them.
	calls   sync.Mutex
	watcher notifier

	mu   sync.Mutex // guards dirs and the listeners in it
	dirs map[string]*watch
}

// A watch is one directory that the notifier watches. It is gone once the directory
// was removed or renamed; who listens to it has to listen anew.
type watch struct {
	listeners []*listener
	gone      atomic.Bool
}

// wake tells the listeners of a change of the entry name; empty means of any.
func (w *watch) wake(name string) {
	for _, e := range w.listeners {
		e.tell(name)
	}
}

// A listener is told of changes in one directory. One wake-up stands for any
// number of changes.
type listener struct {
	dir   string
	tell  func(name string) // must not wait
	watch *watch
}

// lost reports whether nothing will be heard any more.
func (e *listener) lost() bool { return e.watch.gone.Load() }

// listen starts to watch dir, an absolute clean path. What happens after it
// returned is told. The error is the operating system's: it has no notification,
// or no more of it to give.
//
// The system is asked even if dir is watched already: what bears that path now may
// be another directory than the one that did.
func (h *hub) listen(dir string, tell func(name string)) (*listener, error) {
	h.calls.Lock()
	defer h.calls.Unlock()
	if h.watcher == nil {
		w, err := h.start(h.report, h.wakeAll)
		if err != nil {
			return nil, err
		}
		h.watcher = w
	}
	e := &listener{dir: dir, tell: tell}
	h.join(e)
	if err := h.watcher.add(dir); err != nil {
		h.leave(e)
		h.rest()
		return nil, err
	}
	return e, nil
}

// drop ends a listener.
func (h *hub) drop(e *listener) {
	h.calls.Lock()
	defer h.calls.Unlock()
	if h.leave(e) {
		h.watcher.remove(e.dir)
	}
	h.rest()
}

// rest stops the notifier if nobody listens.
func (h *hub) rest() {
	h.mu.Lock()
	n := len(h.dirs)
	h.mu.Unlock()
	if n > 0 || h.watcher == nil {
		return
	}
	// A notifier that cannot be closed is of no more use than one that was.
	_ = h.watcher.close()
	h.watcher = nil
}

// join notes a listener.
func (h *hub) join(e *listener) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := h.dirs[e.dir]
	if w == nil {
		w = &watch{}
		if h.dirs == nil {
			h.dirs = map[string]*watch{}
		}
		h.dirs[e.dir] = w
	}
	e.watch = w
	w.listeners = append(w.listeners, e)
}

// leave forgets a listener, and reports whether its directory has none now.
func (h *hub) leave(e *listener) (last bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if i := slices.Index(e.watch.listeners, e); i >= 0 {
		e.watch.listeners = slices.Delete(e.watch.listeners, i, i+1)
	}
	if len(e.watch.listeners) > 0 || h.dirs[e.dir] != e.watch {
		return false
	}
	delete(h.dirs, e.dir)
	return true
}

// report passes on that an entry of a directory changed, or that the directory is gone.
func (h *hub) report(dir, name string, gone bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := h.dirs[dir]
	switch {
	case w == nil:
	case gone:
		delete(h.dirs, dir)
		w.gone.Store(true)
		w.wake("")
	default:
		w.wake(name)
	}
}

// wakeAll lets everybody look, because events were lost.
func (h *hub) wakeAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range h.dirs {
		w.wake("")
	}
}
