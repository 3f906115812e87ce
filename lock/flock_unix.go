//go:build unix

package lock

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/docket-go/docket/lock/stamp"
)

// openFlags keeps a planted symlink from leading out of the session directory,
// and a planted pipe from blocking the open.
const openFlags = unix.O_NOFOLLOW | unix.O_NONBLOCK

// A fileID tells a file from every other one that is there at the same time.
type fileID struct{ dev, ino uint64 }

func (id fileID) is(d *stamp.Dir) bool { return d.Is(id.dev, id.ino) }

// openLock opens a lock file, and makes it if it is not there. A planted pipe that is
// opened for both directions blocks nobody.
func openLock(path string) (*os.File, error) {
	for {
		fd, err := unix.Open(path, unix.O_RDWR|unix.O_CREAT|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0o600)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, &os.PathError{Op: "open", Path: path, Err: err}
		}
		return os.NewFile(uintptr(fd), path), nil
	}
}

func idOf(f *os.File) (id fileID, regular bool, err error) {
	var st unix.Stat_t
	err = unix.Fstat(int(f.Fd()), &st)
	return fileID{uint64(st.Dev), uint64(st.Ino)}, st.Mode&unix.S_IFMT == unix.S_IFREG, err
}

// idAt returns what bears the name path, be it a symbolic link.
func idAt(path string) (fileID, error) {
	id, _, err := dirAt(path)
	return id, err
}

// dirAt is idAt that also tells whether it is a directory.
func dirAt(path string) (id fileID, dir bool, err error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return fileID{}, false, &os.PathError{Op: "lstat", Path: path, Err: err}
	}
	return fileID{uint64(st.Dev), uint64(st.Ino)}, st.Mode&unix.S_IFMT == unix.S_IFDIR, nil
}

// tryFlock takes the lock of an open file or answers errHeld. Quick says that the
// call cannot wait for anything.
func tryFlock(fd uintptr, quick bool) error {
	for {
		switch err := flock(fd, unix.LOCK_EX|unix.LOCK_NB, quick); err {
		case unix.EINTR:
		case unix.EWOULDBLOCK:
			return errHeld
		default:
			return err
		}
	}
}

// shareFlock takes the lock beside others who only look, who may be many, or answers
// errHeld if somebody has it for himself. What it took must be given back at once.
func shareFlock(fd uintptr) (taken bool, err error) {
	for {
		switch err := unix.Flock(int(fd), unix.LOCK_SH|unix.LOCK_NB); err {
		case nil:
			return true, nil
		case unix.EINTR:
		case unix.EWOULDBLOCK:
			return false, errHeld
		default:
			return false, err
		}
	}
}

func unflock(fd uintptr, quick bool) error { return flock(fd, unix.LOCK_UN, quick) }

func flock(fd uintptr, how int, quick bool) error {
	if quick {
		return quickFlock(fd, how)
	}
	return unix.Flock(int(fd), how)
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
