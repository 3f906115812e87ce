package session

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/lock/step"
)

const (
	buildPrefix = "new-"
	tombPrefix  = "closed-"
)

// newBuild makes an empty directory for a new session. A sweep that comes between
// the making and the locking takes it away; then another one is made.
func (s *Store) newBuild() (*build, error) {
	for range 100 {
		dir := filepath.Join(s.stagingDir(), buildPrefix+rand.Text())
		if err := s.disk.mkdir(dir); err != nil {
			return nil, err
		}
		step.At("session: staging directory made")
		b, err := lockBuild(dir, s.lockOptions())
		if errors.Is(err, lock.ErrClosed) || errors.Is(err, lock.ErrBusy) {
			continue
		}
		if err != nil {
			return nil, errors.Join(err, s.disk.removeTree(dir))
		}
		return b, nil
	}
	return nil, fmt.Errorf("%s: new directories vanish again and again: find the program that removes them", s.stagingDir())
}

func lockBuild(dir string, o lock.Options) (*build, error) {
	locks, err := lock.Open(dir, o)
	if err != nil {
		return nil, err
	}
	guard, err := locks.TryDelivery()
	if err != nil {
		return nil, errors.Join(err, locks.Close())
	}
	return &build{dir: dir, locks: locks, guard: guard}, nil
}

// sweep removes what processes that died left aside: sessions that were not
// created to the end, and closed ones that were not removed to the end.
func (s *Store) sweep() error {
	entries, err := s.disk.names(s.stagingDir())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		dir := filepath.Join(s.stagingDir(), e.Name())
		switch {
		case strings.HasPrefix(e.Name(), tombPrefix):
			err = s.removeTomb(dir)
		case strings.HasPrefix(e.Name(), buildPrefix):
			err = s.removeAbandoned(dir)
		}
		if err != nil {
			return fmt.Errorf("remove what an earlier run left: %w: remove it by hand", err)
		}
	}
	return nil
}

// removeTomb removes a closed session whose closer died. Its old name has to be gone
// for good before that, or a power cut could bring back half a session.
func (s *Store) removeTomb(dir string) error {
	if s.durable() {
		if err := s.disk.syncDirs(s.stagingDir(), s.SessionsDir()); err != nil {
			return err
		}
	}
	return s.disk.removeTree(dir)
}

// removeTree removes a directory that has lost its name. Whoever was about to open its
// lock when it did may make the lock file in it once more, and finds out then.
func (d disk) removeTree(dir string) error {
	for range 100 {
		err := d.removeAll(dir)
		if !errors.Is(err, fs.ErrExist) { // so it is called that the directory is not empty
			return err
		}
	}
	return d.removeAll(dir)
}

// removeAbandoned removes a build that nobody holds. It takes its name first: whoever
// made the directory and has not locked it yet would go on in what is being removed.
func (s *Store) removeAbandoned(dir string) error {
	b, err := lockBuild(dir, s.lockOptions())
	if errors.Is(err, lock.ErrClosed) || errors.Is(err, lock.ErrBusy) {
		return nil
	}
	if err != nil {
		return err
	}
	tomb := filepath.Join(filepath.Dir(dir), tombPrefix+rand.Text())
	err = s.disk.rename(dir, tomb)
	if err == nil {
		step.At("session: abandoned directory set aside")
		err = s.disk.removeTree(tomb)
	}
	return errors.Join(err, b.release())
}
