//go:build !unix && !windows

package lock

import (
	"errors"
	"os"

	"github.com/docket-go/docket/lock/stamp"
)

const openFlags = 0

var errNoLocks = errors.New("this platform has no file locks")

// A fileID is of no use where there are no locks.
type fileID struct{}

func (fileID) is(*stamp.Dir) bool { return false }

func openLock(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|openFlags, 0o600)
}

func idOf(*os.File) (id fileID, regular bool, err error) { return fileID{}, true, nil }

func idAt(path string) (fileID, error) {
	_, err := os.Lstat(path)
	return fileID{}, err
}

// dirAt also tells whether a directory bears the name.
func dirAt(path string) (id fileID, dir bool, err error) {
	info, err := os.Lstat(path)
	return fileID{}, err == nil && info.IsDir(), err
}

func yield() {}

func tryFlock(uintptr, bool) error { return errNoLocks }

func shareFlock(uintptr) (taken bool, err error) { return false, errNoLocks }

func unflock(uintptr, bool) error { return nil }

func isReadOnly(error) bool { return false }

func isUnsupported(err error) bool { return errors.Is(err, errNoLocks) }
