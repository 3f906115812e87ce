package watch

import "errors"

// RefuseNotifiers makes the next n attempts to start a notifier fail. One to which nobody
// listens any more is stopped.
func RefuseNotifiers(n int) (restore func()) {
	ears.stopUnused()
	ears.calls.Lock()
	defer ears.calls.Unlock()
	before := ears.start
	ears.start = func(heard func(dir, name string, c change), lost func()) (notifier, error) {
		if n--; n >= 0 {
			return nil, errors.New("too many open files")
		}
		return before(heard, lost)
	}
	return func() {
		ears.calls.Lock()
		defer ears.calls.Unlock()
		ears.start = before
	}
}

// StopUnused stops the notifier if nobody listens to it. An interruption of the tests
// before, which may end a Wait too early, does not reach the next one.
func StopUnused() { ears.stopUnused() }

// Deafen ends all watches of the system, so that nothing more is heard, and returns how
// many there were.
func Deafen() (dirs int) {
	ears.calls.Lock()
	defer ears.calls.Unlock()
	ears.mu.Lock()
	defer ears.mu.Unlock()
	for dir := range ears.dirs {
		ears.watcher.remove(dir)
	}
	return len(ears.dirs)
}

// Overflow tells that notifications were lost.
func Overflow() { ears.wakeAll() }

// Watched returns how many directories this process watches, and whether the
// notifier runs.
func Watched() (dirs int, running bool) {
	ears.calls.Lock()
	defer ears.calls.Unlock()
	ears.mu.Lock()
	defer ears.mu.Unlock()
	return len(ears.dirs), ears.watcher != nil
}

// Watching reports whether this process watches dir.
func Watching(dir string) bool {
	ears.mu.Lock()
	defer ears.mu.Unlock()
	return ears.dirs[dir] != nil
}
