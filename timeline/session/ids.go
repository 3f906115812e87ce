package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"syscall"
)

// idsBatch bounds how many names are in memory at once.
const idsBatch = 1024

// IDs yields the ids of the store's sessions, in no order: a store may hold more
// of them than should be in memory, so sorting is left to the caller. A session that
// is created or closed meanwhile may be among them or not. Names that are no
// [ValidID] and what is no directory are passed over; whether a session can be opened
// is not looked at. A store that does not exist has none. An error ends the iteration.
func (s *Store) IDs(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if err := s.eachID(ctx, func(id string) bool { return yield(id, nil) }); err != nil {
			yield("", fmt.Errorf("session: list the store: %w", err))
		}
	}
}

// Made reports whether the store is there: the first [Store.Create] makes it. The error
// is of the file system.
func (s *Store) Made() (bool, error) {
	_, err := os.Stat(s.SessionsDir())
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func (s *Store) eachID(ctx context.Context, yield func(string) bool) error {
	path := s.SessionsDir()
	info, err := os.Stat(path) // to open a pipe would wait for its other end
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s: %w: move it away", path, syscall.ENOTDIR)
	}
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	for {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		entries, err := d.ReadDir(idsBatch)
		for _, e := range entries {
			if e.IsDir() && ValidID(e.Name()) == nil && !yield(e.Name()) {
				return nil
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
