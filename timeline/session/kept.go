package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/docket-go/docket/lock"
)

// Keep makes the file name in the session directory hold data, atomically. It is for
// packages that keep something of their own with a session, which dies with it; each
// owns the names of its files.
//
// A nil error means that the file is on stable storage (with Buffered: written). After
// an error it is as it was, unless that is [segment.ErrFaulted]: then it is the new
// one, which a power cut may undo. If the process dies inside, the file is the old or
// the new one, and a draft of it may stay, which the next Keep replaces. The lock
// excludes every other writer; readers always find a whole file.
func (s *Session) Keep(held *lock.Record, name string, data []byte) error {
	if err := held.Covers(s.dir); err != nil {
		return fmt.Errorf("session %s: %w", s.id, err)
	}
	if _, err := s.store.disk.replaceFile(s.dir, name, name+".new", data, s.store.durable()); err != nil {
		return fmt.Errorf("session %s: replace %s: %w", s.id, name, err)
	}
	return nil
}

// Kept returns what [Session.Keep] left in the file name, and false if there is none.
// It takes no lock. What is no plain file of at most limit bytes is a [*RecordError].
// When the session is gone the error is [lock.ErrClosed].
func (s *Session) Kept(name string, limit int64) (data []byte, found bool, err error) {
	path := filepath.Join(s.dir, name)
	data, err = s.store.disk.readWhole(path, limit)
	if s.locks.Gone() {
		return nil, false, fmt.Errorf("session %s: %w", s.id, lock.ErrClosed)
	}
	var bad *contentError
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, false, nil
	case errors.As(err, &bad):
		return nil, false, &RecordError{Session: s.id, Path: path, Err: err}
	case err != nil:
		return nil, false, fmt.Errorf("session %s: %w", s.id, err)
	}
	return data, true, nil
}
