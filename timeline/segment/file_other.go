//go:build !unix

package segment

import (
	"errors"
	"os"
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

// fileState takes the file for linked: an open file cannot be removed here.
func fileState(f *os.File) (size int64, linked bool, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, false, err
	}
	return info.Size(), true, nil
}

// syncDir does nothing: there is no portable way to ask for it here.
func syncDir(string) error { return nil }

func isFull(err error) bool { return errors.Is(err, syscall.ENOSPC) }

func isSymlinkRefusal(error) bool { return false }
