package session

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/docket-go/docket/lock/step"
)

// Close removes the session with everything in it; nothing else ever does. It
// waits for a delivery pass that is under way to end, and then for the record
// lock. Then it marks this life of the id as closed (see [Store.Closed]) and takes the
// directory away; whoever waits for its locks, in any process, gets
// [lock.ErrClosed]. The caller still has to call [Session.Release].
//
// A nil error means that mark and removal are on stable storage. An error from
// the locks means that nothing was done. After another one, and if the process
// dies inside, the session is whole, but possibly marked already: then it counts
// as closed, although it can still be opened, and another Close finishes the work;
// or it is gone, and what is left of its files is removed by a later Close or
// Create. If the error is [segment.ErrFaulted], a power cut may undo what was done:
// the session is then whole again, and its mark tells whether it counts as closed.
func (s *Session) Close(ctx context.Context) error {
	tomb, err := s.bury(ctx)
	if err != nil {
		return err
	}
	step.At("session: directory moved")
	if err := errors.Join(s.store.disk.removeTree(tomb), s.store.sweep()); err != nil {
		return fmt.Errorf("session %s: it is closed, but files are left: %w", s.id, err)
	}
	return nil
}

// bury marks the session and moves its directory out of sight, under both locks.
func (s *Session) bury(ctx context.Context) (tomb string, err error) {
	pass, err := s.locks.Delivery(ctx)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, pass.Release()) }()
	held, err := s.locks.Record(ctx)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, held.Release()) }()
	staging := s.store.stagingDir()
	if err := s.store.disk.makeDir(staging, s.store.durable()); err != nil {
		return "", fmt.Errorf("session %s: close: %w", s.id, err)
	}
	closing, err := s.closing()
	if err != nil {
		return "", err
	}
	if err := s.store.mark(s.id, closing); err != nil {
		return "", fmt.Errorf("session %s: mark it as closed: %w", s.id, err)
	}
	step.At("session: marked as closed")
	tomb = filepath.Join(staging, tombPrefix+rand.Text())
	if err := s.store.disk.rename(s.dir, tomb); err != nil {
		return "", fmt.Errorf("session %s: it is marked as closed, and still here: %w", s.id, err)
	}
	if !s.store.durable() {
		return tomb, nil
	}
	if err := inDoubt(s.store.disk.syncDirs(staging, s.store.SessionsDir())); err != nil {
		return "", fmt.Errorf("session %s: it is closed: %w", s.id, err)
	}
	return tomb, nil
}
