package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

const (
	maxMarkerBytes = 4096

	// maxLife is the last number that every reader of JSON tells from its neighbours.
	maxLife = 1<<53 - 1
)

// A Closing is what a store keeps of the sessions that had one id and were closed.
// A session whose [Record.Life] is below Lives is closed; what it sent before and
// is still owed to others is void.
type Closing struct {
	At    time.Time // when the last of them was closed
	Lives uint64    // the life of the next session with the id, if it is not there yet
}

// A marker is a Closing as it is stored.
type marker struct {
	Session  string    `json:"session"`
	ClosedAt time.Time `json:"closedAt"`
	Lives    uint64    `json:"lives"`
}

// Closed returns what the store keeps of closed sessions with that id, and false
// if none was closed. A session that was created since has another life, for which
// the answer does not hold. One whose Close died between the mark and the removal
// is there and closed: its life is below Lives.
//
// The error is [ErrBadID], or a [*RecordError] for a mark that cannot be read; ok is
// true then, because there is one, but which lives it means is not known. Another
// error is of the disk. Nothing is locked or changed.
func (s *Store) Closed(id string) (c Closing, ok bool, err error) {
	if err := ValidID(id); err != nil {
		return Closing{}, false, err
	}
	path := s.markPath(id)
	data, err := s.disk.readWhole(path, maxMarkerBytes)
	if errors.Is(err, os.ErrNotExist) {
		return Closing{}, false, nil
	}
	var bad *contentError
	if err != nil && !errors.As(err, &bad) && !errors.Is(err, os.ErrPermission) {
		return Closing{}, false, fmt.Errorf("session %s: %w", id, err)
	}
	if err == nil {
		c, err = parseMark(id, data)
	}
	if err != nil {
		return Closing{}, true, &RecordError{Session: id, Path: path, Err: err}
	}
	return c, true, nil
}

// parseMark reads a mark. One that counts no lives was made before they were
// counted, and closed the first.
func parseMark(id string, data []byte) (Closing, error) {
	var m marker
	if err := json.Unmarshal(data, &m); err != nil {
		return Closing{}, err
	}
	if m.Session != id || m.ClosedAt.IsZero() || m.Lives > maxLife {
		return Closing{}, errors.New("it does not say when this session was closed, and which life of it")
	}
	return Closing{At: m.ClosedAt, Lives: max(m.Lives, 1)}, nil
}

func (s *Store) markPath(id string) string { return filepath.Join(s.dir, closedDir, id) }

// mark replaces the mark of an id, whatever stands there. The caller makes sure that
// nobody else does so at the same time.
func (s *Store) mark(id string, c Closing) error {
	path := s.markPath(id)
	if err := s.disk.makeDir(filepath.Dir(path), s.durable()); err != nil {
		return err
	}
	if s.durable() {
		// The directory of the marks may be new, or left by a process that died.
		if err := s.disk.syncDir(s.dir); err != nil {
			return err
		}
	}
	data, err := json.Marshal(marker{Session: id, ClosedAt: c.At, Lives: c.Lives})
	if err != nil {
		return err
	}
	if info, err := os.Lstat(path); err == nil && info.IsDir() {
		if err := s.disk.clearAway(path); err != nil {
			return err
		}
	}
	_, err = s.disk.replaceFile(filepath.Dir(path), id, "."+id, append(data, '\n'), s.durable())
	return err
}

// closing returns the mark of the session that is being closed, under its locks. It
// closes the session's own life and every earlier one, even if one of record and
// mark is damaged.
func (s *Session) closing() (Closing, error) {
	before, _, markErr := s.store.Closed(s.id)
	if markErr != nil && !errors.Is(markErr, ErrUnreadable) {
		return Closing{}, markErr
	}
	r, err := s.Record()
	if err != nil && !errors.Is(err, ErrUnreadable) {
		return Closing{}, err
	}
	life := r.Life
	switch {
	case err != nil && markErr != nil:
		life = s.store.unknownLife()
	case err != nil:
		life = before.Lives
	}
	return Closing{At: s.store.now(), Lives: max(before.Lives, life+1)}, nil
}

// nextLife returns the life of a session that is about to get its name. There is no
// session with the id, and nobody else creates one. A mark that cannot be read is
// replaced: all that it can have meant is that every life so far is closed.
func (s *Store) nextLife(id string) (uint64, error) {
	c, _, err := s.Closed(id)
	if !errors.Is(err, ErrUnreadable) {
		return c.Lives, err
	}
	c = Closing{At: s.now(), Lives: s.unknownLife()}
	if err := s.mark(id, c); err != nil {
		return 0, fmt.Errorf("session %s: mark its earlier lives as closed: %w", id, err)
	}
	return c.Lives, nil
}

// unknownLife is a life above all earlier ones of an id when nothing says how many
// there were: the milliseconds since 1970, which no number of closes comes up to.
// Only if that is needed twice for one id, and the clock was set back in between, it
// may be below an earlier one.
func (s *Store) unknownLife() uint64 {
	return uint64(min(max(s.now().UnixMilli(), 1), maxLife-1))
}
