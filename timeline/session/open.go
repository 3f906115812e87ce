package session

import (
	"errors"
	"fmt"
	"os"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/timeline"
)

// Open returns the session with that id. Nothing is read yet, so that a session
// whose record is damaged can be opened too; call [Session.Release] when done
// with it.
//
// The error is [ErrBadID], [ErrNotFound], or an [*UnsafeError]: the session's
// directory is a symbolic link or no directory, everyone may write to it, or it
// belongs to another user, so that somebody else may decide what is in it. That
// its group may write is allowed: who sets that up shares the session on purpose.
func (s *Store) Open(id string) (*Session, error) {
	if err := ValidID(id); err != nil {
		return nil, err
	}
	dir := s.sessionDir(id)
	info, err := os.Lstat(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, s.notFound(id)
	}
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", id, err)
	}
	if reason := unsafe(info); reason != "" {
		return nil, &UnsafeError{Session: id, Path: dir, Reason: reason}
	}
	locks, err := lock.Open(dir, s.lockOptions())
	if errors.Is(err, lock.ErrClosed) {
		return nil, s.notFound(id)
	}
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", id, err)
	}
	o := s.options.Timeline
	o.Session, o.Locks = id, locks
	openLog := func() (*timeline.Log, error) { return timeline.Open(dir, o) }
	log, err := openLog()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("session %s: %w", id, err), locks.Close())
	}
	return &Session{store: s, id: id, dir: dir, locks: locks, log: log, pen: pen{open: openLog, log: log}}, nil
}

// unsafe returns why a session directory is refused, and "" if it is not.
func unsafe(info os.FileInfo) string {
	switch {
	case info.Mode()&os.ModeSymlink != 0:
		return "it is a symbolic link: move the directory itself here"
	case !info.IsDir():
		return "it is not a directory: remove it"
	case !ownedByCaller(info):
		return "it belongs to another user: work as that user, or change its owner"
	case writableByOthers(info):
		return "everyone may write to it: run chmod o-w on it if its content is still right"
	}
	return ""
}

func (s *Store) notFound(id string) error {
	return fmt.Errorf("%w: %s in %s: create it first", ErrNotFound, id, s.dir)
}
