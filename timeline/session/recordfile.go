package session

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/lock/step"
)

// Record reads the session's record. It takes no lock: the record is only ever
// replaced as a whole. A file that has not changed since is not read again; that
// costs one stat.
//
// A record that is missing, is no plain file, is larger than [MaxRecordBytes], is
// not JSON, or holds a known field of the wrong type is a [*RecordError], never an
// empty record. When the session is gone the error is [lock.ErrClosed].
func (s *Session) Record() (Record, error) {
	path := filepath.Join(s.dir, recordFile)
	seen := s.store.disk.stampAt(path)
	if r, ok := s.memo.recall(seen); ok {
		return r, nil
	}
	data, err := s.store.disk.readWhole(path, MaxRecordBytes)
	if s.locks.Gone() {
		return Record{}, fmt.Errorf("session %s: %w", s.id, lock.ErrClosed)
	}
	var bad *contentError
	switch {
	case errors.Is(err, os.ErrNotExist):
		return Record{}, &RecordError{Session: s.id, Path: path, Err: errors.New("it is missing")}
	case errors.As(err, &bad):
		return Record{}, &RecordError{Session: s.id, Path: path, Err: err}
	case err != nil:
		return Record{}, fmt.Errorf("session %s: %w", s.id, err)
	}
	var r Record
	if err := r.UnmarshalJSON(data); err != nil {
		return Record{}, &RecordError{Session: s.id, Path: path, Err: err}
	}
	if len(data) <= maxMemoBytes {
		s.memo.keep(seen, r)
	}
	return r, nil
}

// A contentError is about what stands at a path, not about reaching it.
type contentError struct{ reason string }

func (e *contentError) Error() string { return e.reason }

// replaceMoved replaces the record was, which is on disk, by is, if they differ.
// It reports whether readers see the change, also where it cannot be promised.
func (s *Session) replaceMoved(held *lock.Record, was, is Record) (stands bool, err error) {
	data, err := is.stored()
	if err != nil || bytes.Equal(data, was.fields.encode()) {
		return false, err
	}
	agreed := s.agreed == held.Generation()+1
	if stands, err := s.beginReplaced(held, data); err != nil {
		return stands, err
	}
	if err := held.Done(); err != nil {
		return true, err
	}
	if agreed {
		s.agreed = held.Generation() + 1
	}
	return true, nil
}

// beginReplaced begins a change with the replacement of the record. If the process
// dies, or the new name cannot be synced, the lock stays interrupted, so that the
// next holder does not take the record for durable. It reports whether readers see
// the new record.
func (s *Session) beginReplaced(held *lock.Record, data []byte) (stands bool, err error) {
	if err := held.Begin(); err != nil {
		return false, err
	}
	step.At("session: change begun")
	stands, err = s.store.disk.replaceFile(s.dir, recordFile, recordNewFile, data, s.store.durable())
	if err == nil {
		return true, nil
	}
	if !stands {
		err = errors.Join(err, held.Done())
	}
	return stands, fmt.Errorf("session %s: replace the record: %w", s.id, err)
}
