//go:build !unix && !windows

package lock

import (
	"errors"
	"os"
)

const openFlags = 0

var errNoLocks = errors.New("this platform has no file locks")

// A fileID is of no use where there are no locks.
type fileID struct{}

func idOf(*os.File) (fileID, error) { return fileID{}, errNoLocks }

func idAt(string) (fileID, error) { return fileID{}, errNoLocks }

func yield() {}

func tryFlock(*os.File) error { return errNoLocks }

func unflock(*os.File) error { return nil }

func isReadOnly(error) bool { return false }

func isUnsupported(err error) bool { return errors.Is(err, errNoLocks) }
