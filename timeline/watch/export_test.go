package watch

import "github.com/fsnotify/fsnotify"

// SetWatcher makes the hub start its watcher with f.
func SetWatcher(f func() (*fsnotify.Watcher, error)) (restore func()) {
	ears.calls.Lock()
	defer ears.calls.Unlock()
	before := ears.start
	ears.start = f
	return func() {
		ears.calls.Lock()
		defer ears.calls.Unlock()
		ears.start = before
	}
}

// Watched returns how many directories this process watches, and whether the
// watcher runs.
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
