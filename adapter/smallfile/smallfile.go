// Package smallfile reads and writes the small files in which adapters keep what must
// outlive them.
//
// # What it keeps
//
// Nothing of its own: the names are those of the callers, each in a folder that one
// session owns.
//
// # Guarantees
//
// A file is whole or not there: nobody reads half of one. What [Replace] and [Create]
// returned nil for is on stable storage. Nothing leads out of the folder or waits: a link
// is not followed, and a pipe is refused, whoever put it there.
//
// # Crashes
//
// A process that dies inside leaves the file as it was, or as new, and perhaps a draft
// that nobody reads: NAME.new, which the next call takes the place of, or .NAME.N of
// [Create].
//
// # Format
//
// The callers'.
package smallfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/docket-go/docket/lock/durable"
	"github.com/docket-go/docket/lock/step"
)

// MaxBytes bounds what [Read] takes for a small file.
const MaxBytes = 64 << 10

// ErrNotPlain is returned by [Read] for what is no plain file of at most [MaxBytes].
var ErrNotPlain = errors.New("not a small plain file")

// Open is [os.OpenFile], but follows no link and waits for no pipe. The caller looks at
// what it got.
func Open(path string, flag int, perm os.FileMode) (*os.File, error) {
	return os.OpenFile(path, flag|openFlags, perm)
}

// Read reads a file. The error is [fs.ErrNotExist] if there is none, and [ErrNotPlain], or
// what the system says of a link, if it can never be read; any other says nothing about
// the file. It may be called at the same time as anything else.
func Read(path string) ([]byte, error) {
	f, err := Open(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > MaxBytes {
		return nil, fmt.Errorf("%s is %w: remove it", path, ErrNotPlain)
	}
	return io.ReadAll(io.LimitReader(f, MaxBytes))
}

// Replace makes the file hold data. Nil promises that Read returns it from now on, also
// after a power cut. An error leaves the file as it was, or as new. One process at a time
// may replace a file.
func Replace(path string, data []byte) error {
	draft, err := write(path, data, (*os.File).Sync)
	if err != nil {
		return err
	}
	step.At("adapter/smallfile: " + filepath.Base(path) + " is drafted")
	if err := os.Rename(draft, path); err != nil {
		return err
	}
	step.At("adapter/smallfile: " + filepath.Base(path) + " is in place")
	return durable.Names(filepath.Dir(path))
}

// Swap is Replace for what is not true any more after a power cut: it syncs nothing.
func Swap(path string, data []byte) error {
	draft, err := write(path, data, func(*os.File) error { return nil })
	if err != nil {
		return err
	}
	step.At("adapter/smallfile: " + filepath.Base(path) + " is drafted")
	return os.Rename(draft, path)
}

// write writes the draft of a file, in the place of whatever a dead process or somebody
// else left there.
func write(path string, data []byte, sync func(*os.File) error) (draft string, err error) {
	draft = path + ".new"
	if err := os.Remove(draft); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	f, err := Open(draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, sync(f), f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(draft))
	}
	return draft, nil
}

// Create makes the file hold data if there is none; the error is [fs.ErrExist] if there
// is, and it is on stable storage then, too. Several processes may create a file: one of
// them does. Any other error leaves no file, or the new one.
func Create(path string, data []byte) error {
	dir, name := filepath.Split(path)
	f, err := os.CreateTemp(dir, "."+name+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	step.At("adapter/smallfile: " + name + " is drafted")
	if err = os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if synced := durable.Names(filepath.Dir(path)); synced != nil {
		return synced
	}
	return err
}
