package dispatch

import (
	"time"

	"github.com/fsnotify/fsnotify"
)

// Backoff is the ladder of a sweeper with these bounds.
func Backoff(least, most time.Duration, failures int, random float64) time.Duration {
	return backoff{least, most}.after(failures, random)
}

// NoWatcher makes the sweeper find out at Run that there is no notification.
func (s *Sweeper) NoWatcher(err error) {
	s.newWatcher = func() (*fsnotify.Watcher, error) { return nil, err }
}

// Watching is asked before the sweeper watches a directory, and told after it does.
func (s *Sweeper) Watching(before func(dir string) error, after func(dir string)) {
	really := s.addWatch
	s.addWatch = func(w *fsnotify.Watcher, dir string) error {
		if err := before(dir); err != nil {
			return err
		}
		err := really(w, dir)
		after(dir)
		return err
	}
}

// Moved reports whether the deliveries of a session, which ended with an error, stand
// elsewhere now.
func (d *Dispatcher) Moved(id string, end error) (bool, error) {
	at := stopped(end)
	now, err := d.standsAt(id, at)
	return at.over(now), err
}

// CloseWatcher closes a sweeper's watcher, to which nobody listens any more.
func CloseWatcher(w *fsnotify.Watcher) { (&lookout{watcher: w}).close() }
