package watch

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Ears are the ears of the whole process: all waiters share one notifier, and
// those of one directory share one watch.
var ears = hub{start: startNotifier}

// linger is how long a notifier that no goroutine serves is kept for the next listener.
const linger = time.Second

// A change is what happened in a directory.
type change int

const (
	altered change = iota // an entry came or went, or is another, or nobody knows
	written               // what is in an entry changed, and nothing else
	gone                  // the directory was removed or renamed
)

// An ending is why events are not taken any longer.
type ending int

const (
	others  ending = iota // somebody else takes them
	overdue               // the time has come, or the context has ended
	stirred               // one has come, and was not taken yet
	rang                  // one was for the caller
)

// A notifier is what the system has to tell of changes in directories. It tells of them
// by the path that the directory was added under and the name of the entry, from one
// goroutine at a time, in the order of events. A directory that is added again under the
// same path is the one that bears it then.
type notifier interface {
	add(dir string) error
	remove(dir string)
	close() error

	// serve sees to it that events are taken at any time from now on.
	serve()

	// take takes events in the caller's goroutine, and tells of all of them, until one
	// has rung the bell, the time has come, or ctx has ended and interrupt was called
	// behind that. Once it had to wait for the next one, it returns as soon as that has
	// come and leaves it to be taken the next time. It returns at once, and has not taken
	// any, if somebody else takes them.
	take(ctx context.Context, until time.Time, bell <-chan struct{}) ending

	// interrupt ends what take waits for. It may end a later take as well, for which
	// that is as if the time had come.
	interrupt()
}

// A hub passes what one notifier tells on to the listeners of each directory. The
// notifier runs while anybody listens. A listener that is alone takes the events itself,
// which saves them the way through another goroutine, and often the wake-up of a thread;
// as soon as there are two, the notifier has to serve.
//
// Linux takes some ten milliseconds to close a notifier. One that never served, and so
// has no goroutine, is left open for a moment behind its last listener: the next one
// may come, or the process may end, which closes one without watches at once.
type hub struct {
	start func(heard func(dir, name string, c change), lost func()) (notifier, error)

	// calls is held across calls of the notifier. They may wait until an event was
	// taken, and so the goroutine that takes events must never wait for them.
	calls   sync.Mutex
	watcher notifier
	serves  bool        // the notifier does
	ears    int         // how many listen
	resting *time.Timer // closes the notifier, to which nobody listens

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
func (w *watch) wake(name string, c change) {
	for _, e := range w.listeners {
		e.tell(name, c)
	}
}

// A listener is told of changes in one directory. One wake-up stands for any
// number of changes.
type listener struct {
	dir   string
	tell  func(name string, c change) // must not wait
	watch *watch
	from  notifier
}

// lost reports whether nothing will be heard any more.
func (e *listener) lost() bool { return e.watch.gone.Load() }

// listen starts to watch dir, an absolute clean path. What happens after it
// returned is told. The error is the operating system's: it has no notification,
// or no more of it to give. With takes set the listener takes the events itself while it
// is the only one.
//
// The system is asked even if dir is watched already: what bears that path now may
// be another directory than the one that did.
func (h *hub) listen(dir string, tell func(name string, c change), takes bool) (*listener, error) {
	h.calls.Lock()
	defer h.calls.Unlock()
	if h.watcher == nil {
		w, err := h.start(h.report, h.wakeAll)
		if err != nil {
			return nil, err
		}
		h.watcher, h.serves = w, false
	}
	e := &listener{dir: dir, tell: tell, from: h.watcher}
	if h.join(e); !takes || h.ears > 1 {
		h.watcher.serve()
		h.serves = true
	}
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

// rest stops the notifier if nobody listens, at once or soon.
func (h *hub) rest() {
	switch {
	case h.ears > 0 || h.watcher == nil:
	case h.serves || !lingers:
		h.stop()
	case h.resting == nil:
		h.resting = time.AfterFunc(linger, h.stopUnused)
	default:
		h.resting.Reset(linger)
	}
}

// stopUnused stops the notifier if nobody has come.
func (h *hub) stopUnused() {
	h.calls.Lock()
	defer h.calls.Unlock()
	if h.ears == 0 && h.watcher != nil {
		h.stop()
	}
}

func (h *hub) stop() {
	// A notifier that cannot be closed is of no more use than one that was.
	_ = h.watcher.close()
	h.watcher = nil
}

// join notes a listener.
func (h *hub) join(e *listener) {
	h.ears++
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
	h.ears--
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

// report passes on what happened in a directory.
func (h *hub) report(dir, name string, c change) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := h.dirs[dir]
	switch {
	case w == nil:
	case c == gone:
		delete(h.dirs, dir)
		w.gone.Store(true)
		w.wake("", altered)
	default:
		w.wake(name, c)
	}
}

// wakeAll lets everybody look, because events were lost.
func (h *hub) wakeAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range h.dirs {
		w.wake("", altered)
	}
}
