package session

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/docket-go/docket/lock/step"
)

// Close removes the session with everything in it; nothing else ever does. It
// waits for a delivery pass that is under way to end, and then for the record
// lock. Then it marks the id as closed (see [Store.ClosedAt]) and takes the
// directory away; whoever waits for its locks, in any process, gets
// [lock.ErrClosed]. The caller still has to call [Session.Release].
//
// A nil error means that mark and removal are on stable storage. An error from
// the locks means that nothing was done. After another one, and if the process
// dies inside, the session is whole, but possibly marked already: close it again;
// or it is gone, and what is left of its files is removed by a later Close or
// Create.
func (s *Session) Close(ctx context.Context) error {
	tomb, err := s.bury(ctx)
	if err != nil {
		return fmt.Errorf("session %s: close: %w", s.id, err)
	}
	step.At("session: directory moved")
	if err := errors.Join(os.RemoveAll(tomb), s.store.sweep()); err != nil {
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
	if err := makeDir(staging, s.store.durable()); err != nil {
		return "", err
	}
	if err := s.store.mark(s.id); err != nil {
		return "", err
	}
	step.At("session: marked as closed")
	tomb = filepath.Join(staging, tombPrefix+rand.Text())
	if err := os.Rename(s.dir, tomb); err != nil {
		return "", err
	}
	if !s.store.durable() {
		return tomb, nil
	}
	return tomb, errors.Join(syncDir(staging), syncDir(filepath.Dir(s.dir)))
}

// A marker is what the store keeps of a closed session.
type marker struct {
	Session  string    `json:"session"`
	ClosedAt time.Time `json:"closedAt"`
}

const maxMarkerBytes = 4096

func (s *Store) mark(id string) error {
	dir := filepath.Join(s.dir, closedDir)
	if err := makeDir(dir, s.durable()); err != nil {
		return err
	}
	data, err := json.Marshal(marker{Session: id, ClosedAt: s.now()})
	if err != nil {
		return err
	}
	return replaceFile(dir, id, "."+id, append(data, '\n'), s.durable())
}

// ClosedAt returns when a session with that id was closed, and false if none was.
// What it sent before and what is still owed then is void. If a session with the
// id was created since, that is another one and the mark does not hold for it.
//
// The error is [ErrBadID], or a [*RecordError] for a mark that cannot be read;
// ok is true then, because there is one.
func (s *Store) ClosedAt(id string) (at time.Time, ok bool, err error) {
	if err := ValidID(id); err != nil {
		return time.Time{}, false, err
	}
	path := filepath.Join(s.dir, closedDir, id)
	data, err := readWhole(path, maxMarkerBytes)
	if errors.Is(err, os.ErrNotExist) {
		return time.Time{}, false, nil
	}
	var bad *contentError
	if err != nil && !errors.As(err, &bad) {
		return time.Time{}, false, fmt.Errorf("session %s: %w", id, err)
	}
	var m marker
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	if err == nil && (m.Session != id || m.ClosedAt.IsZero()) {
		err = errors.New("it does not say when this session was closed")
	}
	if err != nil {
		return time.Time{}, true, &RecordError{Session: id, Path: path, Err: err}
	}
	return m.ClosedAt, true, nil
}
