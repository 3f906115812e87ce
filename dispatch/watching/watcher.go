package watching

import (
	"errors"
	"fmt"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/timeline/session"
)

// A watcher is one life of a session.
type watcher struct {
	id   string
	life uint64
}

func (sp span) watcher() watcher { return watcher{sp.By, sp.Life} }

// closed reports whether the watcher was closed: the store's mark says so, or another
// life has its id. That its directory is missing says nothing: it may be back later. An
// error means that it is not known, and is [ErrAway] without directory and mark.
func (w *Watches) closed(by watcher) (bool, error) {
	closing, marked, unmarked := w.store.Closed(by.id)
	if unmarked == nil && marked && by.life < closing.Lives {
		return true, nil
	}
	life, err := w.lifeOf(by.id)
	switch {
	case err == nil:
		return life != by.life, nil
	case !errors.Is(err, session.ErrNotFound):
		return false, err
	case unmarked != nil:
		return false, fmt.Errorf("whether watcher %s was closed is not known: %w", by.id, unmarked)
	}
	return false, fmt.Errorf("%w: put %s back where it was; if it is gone for good, make a session with that id and close it", ErrAway, by.id)
}

// lifeOf returns which life of its id a watcher is.
func (w *Watches) lifeOf(id string) (uint64, error) {
	s, err := w.store.Open(id)
	if err != nil {
		return 0, fmt.Errorf("watcher %s: %w", id, err)
	}
	r, err := s.Record()
	if errors.Is(err, lock.ErrClosed) {
		err = session.ErrNotFound
	}
	if err != nil {
		err = fmt.Errorf("watcher %s: %w", id, err)
	}
	return r.Life, errors.Join(err, s.Release())
}
