//go:build unix

package lock

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// openFlags keeps a planted symlink from leading out of the session directory,
// and a planted pipe from blocking the open.
const openFlags = unix.O_NOFOLLOW | unix.O_NONBLOCK

// A fileID tells a file from every other one that is there at the same time.
type fileID struct{ dev, ino uint64 }

func idOf(f *os.File) (fileID, error) {
	var st unix.Stat_t
	err := unix.Fstat(int(f.Fd()), &st)
	return fileID{uint64(st.Dev), uint64(st.Ino)}, err
}

// idAt returns what bears the name path, be it a symbolic link.
func idAt(path string) (fileID, error) {
	var st unix.Stat_t
	err := unix.Lstat(path, &st)
	return fileID{uint64(st.Dev), uint64(st.Ino)}, err
}

func tryFlock(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch err {
		case unix.EINTR:
			continue
		case unix.EWOULDBLOCK:
			return errHeld
		}
		return err
	}
}

func unflock(f *os.File) error {
	return unix.Flock(int(f.Fd()), unix.LOCK_UN)
}

func isReadOnly(err error) bool { return errors.Is(err, unix.EROFS) }

func isUnsupported(err error) bool {
	for _, no := range []error{unix.ENOLCK, unix.ENOSYS, unix.ENOTSUP, unix.EOPNOTSUPP, unix.EINVAL} {
		if errors.Is(err, no) {
			return true
		}
	}
	return false
}
