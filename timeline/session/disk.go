package session

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/docket-go/docket/lock/durable"
	"github.com/docket-go/docket/lock/step"
	"github.com/docket-go/docket/timeline/segment"
)

// A disk is the calls by which the store touches its own files. The tests make them
// fail, and replay what a power cut leaves of them.
type disk struct {
	stamp     func(path string) stamp             // without looked; nil if files have none
	open      func(path string) (*os.File, error) // to read a file that may be anything
	create    func(path string) (*os.File, error) // a file that must not be there
	names     func(dir string) ([]os.DirEntry, error)
	mkdir     func(path string) error
	write     func(f *os.File, p []byte) (int, error)
	sync      func(f *os.File) error
	syncDir   func(path string) error
	rename    func(from, to string) error
	remove    func(path string) error
	removeAll func(path string) error
}

var realDisk = disk{
	stamp: stampOf,
	open:  func(path string) (*os.File, error) { return os.OpenFile(path, os.O_RDONLY|openFlags, 0) },
	create: func(path string) (*os.File, error) {
		return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	},
	names:     os.ReadDir,
	mkdir:     func(path string) error { return os.Mkdir(path, 0o700) },
	write:     (*os.File).Write,
	sync:      (*os.File).Sync,
	syncDir:   durable.Names,
	rename:    os.Rename,
	remove:    os.Remove,
	removeAll: os.RemoveAll,
}

// stampAt is the stamp of what bears the name path now.
func (d disk) stampAt(path string) stamp {
	if d.stamp == nil {
		return stamp{}
	}
	looked := time.Now()
	s := d.stamp(path)
	if s != (stamp{}) {
		s.looked = looked
	}
	return s
}

// syncDirs puts the names in the directories on stable storage.
func (d disk) syncDirs(dirs ...string) error {
	for _, dir := range dirs {
		if err := d.syncDir(dir); err != nil {
			return err
		}
	}
	return nil
}

// inDoubt says of a change that everybody sees that it could not be synced.
func inDoubt(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w: a power cut may still undo it", segment.ErrFaulted, err)
}

// readWhole reads a plain file of at most limit bytes.
func (d disk) readWhole(path string, limit int64) ([]byte, error) {
	f, err := d.open(path)
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

// replaceFile makes the file base in dir hold data, atomically. It uses the name
// temporary on the way, which belongs to the caller alone while it runs; what a
// process that died left there is removed. After an error the file is as it was,
// unless replaced is true: then it is the new one, and the error is
// [segment.ErrFaulted].
func (d disk) replaceFile(dir, base, temporary string, data []byte, durable bool) (replaced bool, err error) {
	path, staged := filepath.Join(dir, base), filepath.Join(dir, temporary)
	if err := d.clearAway(staged); err != nil {
		return false, err
	}
	if err := d.writeFile(staged, data, durable); err != nil {
		return false, err
	}
	step.At("session: new " + base + " written")
	if err := d.rename(staged, path); err != nil {
		return false, d.discard(staged, err)
	}
	step.At("session: " + base + " replaced")
	if !durable {
		return true, nil
	}
	return true, inDoubt(d.syncDir(dir))
}

// writeFile creates a file of the owner alone, or leaves nothing.
func (d disk) writeFile(path string, data []byte, durable bool) error {
	f, err := d.create(path)
	if err != nil {
		return err
	}
	n, err := d.write(f, data)
	if err == nil && n < len(data) || errors.Is(err, io.ErrShortWrite) {
		err = &os.PathError{Op: "write", Path: path, Err: io.ErrShortWrite}
	}
	if err == nil && durable {
		err = d.sync(f)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return d.discard(path, err)
	}
	return nil
}

// discard removes a file that is of no use any more because of err.
func (d disk) discard(path string, err error) error {
	if left := d.remove(path); left != nil && !errors.Is(left, os.ErrNotExist) {
		return errors.Join(err, left)
	}
	return err
}

// clearAway frees a name. A directory that is not empty is no file of this package:
// it is kept, under a name that nobody uses.
func (d disk) clearAway(path string) error {
	err := d.remove(path)
	if err == nil || errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if info, statErr := os.Lstat(path); statErr != nil || !info.IsDir() {
		return err
	}
	return d.rename(path, path+asideMark+rand.Text())
}

// makeDir makes dir and what is missing above it, for the user alone. A symbolic link
// in its place is refused. Before a directory is made the name of the one around it is
// made durable, whoever made that; the name of dir itself is left to the caller.
func (d disk) makeDir(dir string, durable bool) error {
	if there, err := isDir(dir); there || err != nil {
		return err
	}
	around := filepath.Dir(dir)
	if _, err := os.Stat(around); errors.Is(err, os.ErrNotExist) {
		if err := d.makeDir(around, durable); err != nil {
			return err
		}
	}
	if durable {
		// Who may not read a directory has not made a name in it either.
		if err := d.syncDir(filepath.Dir(around)); err != nil && !errors.Is(err, os.ErrPermission) {
			return err
		}
	}
	err := d.mkdir(dir)
	if errors.Is(err, os.ErrExist) {
		_, err = isDir(dir)
		return err
	}
	if err == nil {
		step.At("session: directory made")
	}
	return err
}

// isDir reports whether the directory is there. Something else in its place is an
// error.
func isDir(dir string) (bool, error) {
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case !info.IsDir():
		return false, fmt.Errorf("%s is not a directory: remove it", dir)
	}
	return true, nil
}
