//go:build !unix

package segment

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

const openFlags = 0

// syncFlags is how a file is opened that is only to be synced.
const syncFlags = os.O_RDWR

func exists(path string) (bool, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func existsIn(dir *os.File, name string) (bool, error) {
	return exists(filepath.Join(dir.Name(), name))
}

// readOnce reads what is there at an offset; that may be nothing.
func readOnce(f *os.File, p []byte, off int64) (int, error) {
	n, err := f.ReadAt(p, off)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// fileState takes the file for linked: an open file cannot be removed here.
func fileState(f *os.File) (size int64, linked bool, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, false, err
	}
	return info.Size(), true, nil
}

// regularSize returns the size of a plain file, and false for any other.
func regularSize(f *os.File) (size int64, regular bool, err error) { return regularByStat(f) }

// highest knows nothing here: the listing tells.
func highest(*os.File) (n uint64, ok bool) { return 0, false }

// openToWrite opens segment n, which is at path, in the open directory dir.
func openToWrite(_ *os.File, path string, _ uint64) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
}

// holdDraft does nothing: an open file cannot be removed here.
func holdDraft(*os.File) error { return nil }

func abandoned(string) bool { return true }

func isTaken(error) bool { return false }

func isFull(err error) bool { return errors.Is(err, syscall.ENOSPC) }

func isSymlinkRefusal(error) bool { return false }
