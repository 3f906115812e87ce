package session

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/lock/step"
)

// Record reads the session's record. It takes no lock: the record is only ever
// replaced as a whole.
//
// A record that is missing, is no plain file, is larger than [MaxRecordBytes], is
// not JSON, or holds a known field of the wrong type is a [*RecordError], never an
// empty record. When the session is gone the error is [lock.ErrClosed].
func (s *Session) Record() (Record, error) {
	path := filepath.Join(s.dir, recordFile)
	data, err := readWhole(path, MaxRecordBytes)
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
	return r, nil
}

// A contentError is about what stands at a path, not about reaching it.
type contentError struct{ reason string }

func (e *contentError) Error() string { return e.reason }

// readWhole reads a plain file of at most limit bytes.
func readWhole(path string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
	if err != nil {
		if info, lstatErr := os.Lstat(path); lstatErr == nil && !info.Mode().IsRegular() {
			return nil, &contentError{"it is not a plain file"}
		}
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &contentError{"it is not a plain file"}
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = &contentError{fmt.Sprintf("it is larger than %d bytes", limit)}
	}
	return data, err
}

// replaceMoved replaces the record was, which is on disk, by is, if they differ.
// The caller holds the record lock.
func (s *Session) replaceMoved(was, is Record) error {
	data, err := is.stored()
	if err != nil || bytes.Equal(data, was.fields.encode()) {
		return err
	}
	return s.replace(data)
}

func (s *Session) replace(data []byte) error {
	if err := replaceFile(s.dir, recordFile, recordNewFile, data, s.store.durable()); err != nil {
		return fmt.Errorf("session %s: replace the record: %w", s.id, err)
	}
	return nil
}

// replaceFile makes the file base in dir hold data, atomically. It uses the name
// temporary on the way, which belongs to the caller alone while it runs; what a
// process that died left there is removed.
func replaceFile(dir, base, temporary string, data []byte, durable bool) error {
	path, staged := filepath.Join(dir, base), filepath.Join(dir, temporary)
	if err := clearAway(staged); err != nil {
		return err
	}
	if err := writeFile(staged, data, durable); err != nil {
		return errors.Join(err, os.Remove(staged))
	}
	step.At("session: new " + base + " written")
	if err := os.Rename(staged, path); err != nil {
		return errors.Join(err, os.Remove(staged))
	}
	step.At("session: " + base + " replaced")
	if !durable {
		return nil
	}
	return syncDir(dir)
}

// clearAway frees a name. A directory that is not empty is no file of this package:
// it is kept, under a name that nobody uses.
func clearAway(path string) error {
	err := os.Remove(path)
	if err == nil || errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if info, statErr := os.Lstat(path); statErr != nil || !info.IsDir() {
		return err
	}
	return os.Rename(path, path+asideMark+rand.Text())
}

// writeFile creates a file of the owner alone.
func writeFile(path string, data []byte, durable bool) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil && durable {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
