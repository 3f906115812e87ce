package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/segment"
)

// A sight is what one stat shows of a log. While it stays the same, and there is no
// segment behind the one that it shows, the log has not grown. For a log without a
// plain segment it shows when the session directory was last changed.
type sight struct {
	segment.Sight
	home int64
}

// A birth tells a session directory from a later one at the same path.
type birth struct {
	file      uint64
	sec, nano int64
}

// A glimpse is what is known of a log at one moment.
type glimpse struct {
	seen  sight
	born  birth // only of an empty log
	epoch segment.Epoch
	end   uint64
	long  bool // it took more than a glance
}

// glance returns what is known of the log in a session directory, and false if it
// takes more than a glance.
func glance(l *timeline.Looker, dir string) (glimpse, bool) {
	look, ok := l.Look(dir)
	if !ok || look.Epoch != (segment.Epoch{}) {
		return glimpse{seen: sight{Sight: look.Sight}, epoch: look.Epoch, end: look.End}, ok
	}
	born, changed, err := birthOf(dir)
	if err != nil {
		return glimpse{}, false
	}
	again, ok := l.Look(dir) // it was empty after it was born
	return glimpse{seen: sight{home: changed}, born: born}, ok && again == look
}

// sightOf looks for the newest plain segment of the log in a session directory, from
// segment n on.
func sightOf(dir string, n uint64) (sight, error) {
	if s := segment.SightOf(timeline.SegmentsDir(dir), n); s != (segment.Sight{}) {
		return sight{Sight: s}, nil
	}
	_, changed, err := birthOf(dir)
	return sight{home: changed}, err
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// inspect is glance for any log.
func (f *follower) inspect(ctx context.Context, id string) (g glimpse, err error) {
	g.long = true
	dir := f.dirOf(id)
	born, _, err := birthOf(dir)
	if err != nil {
		return g, fmt.Errorf("session %s: %w", id, err)
	}
	if g.seen, err = sightOf(dir, 0); err != nil {
		return g, fmt.Errorf("session %s: %w", id, err)
	}
	s, err := f.store.Open(id)
	if err != nil {
		return g, err
	}
	end, err := s.Timeline().End(ctx)
	if err = errors.Join(err, s.Release()); err != nil {
		return g, err
	}
	g.epoch, g.end = end.Epoch(), end.Seq()
	if g.epoch == (segment.Epoch{}) {
		g.born = born
	}
	return g, nil
}
