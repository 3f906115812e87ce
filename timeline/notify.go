package timeline

import (
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/fsnotify/fsnotify"
)

// Ears are the ears of the whole process: all followers share one watcher, and
// those of one session share one watch.
var ears = hub{start: fsnotify.NewWatcher}

// A hub passes what one watcher reports on to the listeners of each directory. The
// watcher runs while anybody listens.
type hub struct {
	start func() (*fsnotify.Watcher, error)

	mu      sync.Mutex
	watcher *fsnotify.Watcher
	dirs    map[string]*watch
}

// A watch is one directory that the watcher watches. It is gone once the directory
// was removed or renamed; who listens to it has to listen anew.
type watch struct {
	listeners map[*listener]bool
	gone      atomic.Bool
}

// A listener is told of changes in one directory. One wake-up stands for any
// number of changes.
type listener struct {
	dir   string
	heard chan struct{}
	watch *watch
}

// lost reports whether nothing will be heard any more.
func (e *listener) lost() bool { return e.watch.gone.Load() }

func (e *listener) wake() {
	select {
	case e.heard <- struct{}{}:
	default:
	}
}

// listen starts to watch dir, an absolute clean path. What happens after it
// returned is heard. The error is the operating system's: it has no notification,
// or no more of it to give.
func (h *hub) listen(dir string) (*listener, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.run(); err != nil {
		return nil, err
	}
	w := h.dirs[dir]
	if w == nil {
		if err := h.watcher.Add(dir); err != nil {
			h.rest()
			return nil, err
		}
		w = &watch{listeners: map[*listener]bool{}}
		h.dirs[dir] = w
	}
	e := &listener{dir: dir, heard: make(chan struct{}, 1), watch: w}
	w.listeners[e] = true
	return e, nil
}

// drop ends a listener.
func (h *hub) drop(e *listener) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(e.watch.listeners, e)
	if len(e.watch.listeners) == 0 && h.dirs[e.dir] == e.watch {
		delete(h.dirs, e.dir)
		// The watch may have ended with its directory; then there is none to remove.
		_ = h.watcher.Remove(e.dir)
	}
	h.rest()
}

// run starts the watcher unless it runs.
func (h *hub) run() error {
	if h.watcher != nil {
		return nil
	}
	w, err := h.start()
	if err != nil {
		return err
	}
	h.watcher, h.dirs = w, map[string]*watch{}
	go h.pass(w)
	return nil
}

// rest stops the watcher if nobody listens.
func (h *hub) rest() {
	if h.watcher == nil || len(h.dirs) > 0 {
		return
	}
	// A watcher that cannot be closed is of no more use than one that was.
	_ = h.watcher.Close()
	h.watcher = nil
}

// pass runs until w is closed.
func (h *hub) pass(w *fsnotify.Watcher) {
	for {
		select {
		case e, ok := <-w.Events:
			if !ok {
				return
			}
			h.report(w, e)
		case _, ok := <-w.Errors:
			if !ok {
				return
			}
			h.wakeAll(w) // events were lost: everybody has to look
		}
	}
}

func (h *hub) report(w *fsnotify.Watcher, e fsnotify.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watcher != w {
		return
	}
	if at := h.dirs[e.Name]; at != nil && (e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename)) {
		at.gone.Store(true)
		delete(h.dirs, e.Name)
		for l := range at.listeners {
			l.wake()
		}
	}
	if at := h.dirs[filepath.Dir(e.Name)]; at != nil {
		for l := range at.listeners {
			l.wake()
		}
	}
}

func (h *hub) wakeAll(w *fsnotify.Watcher) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watcher != w {
		return
	}
	for _, at := range h.dirs {
		for l := range at.listeners {
			l.wake()
		}
	}
}
