//go:build !linux

package watch

import (
	"context"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// lingers says that closing a notifier is put off. Here it has a goroutine in any case.
const lingers = false

// An observer is the notification of a system other than Linux.
type observer struct{ *fsnotify.Watcher }

// startNotifier begins to tell heard of changes, and lost that some were not told.
func startNotifier(heard func(dir, name string, c change), lost func()) (notifier, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	go func() {
		for {
			select {
			case e, ok := <-w.Events:
				if !ok {
					return
				}
				if e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename) {
					heard(e.Name, "", gone)
				}
				c := altered
				if e.Op == fsnotify.Write {
					c = written
				}
				heard(filepath.Dir(e.Name), filepath.Base(e.Name), c)
			case _, ok := <-w.Errors:
				if !ok {
					return
				}
				lost()
			}
		}
	}()
	return observer{w}, nil
}

func (o observer) add(dir string) error { return o.Add(dir) }

// remove ends a watch. It may have ended with its directory; then there is none.
func (o observer) remove(dir string) { _ = o.Remove(dir) }

func (o observer) close() error { return o.Close() }

// serve has nothing to do: the observer has a goroutine in any case.
func (o observer) serve() {}

func (o observer) take(context.Context, time.Time, <-chan struct{}) ending { return others }

func (o observer) interrupt() {}
