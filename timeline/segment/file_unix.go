//go:build unix

package segment

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// openFlags keeps a planted symlink from leading out of the directory, and a
// planted pipe from blocking the open.
const openFlags = unix.O_NOFOLLOW | unix.O_NONBLOCK

// syncFlags is how a file is opened that is only to be synced.
const syncFlags = os.O_RDONLY

// exists reports whether the directory has an entry of that name, of any kind.
func exists(path string) (bool, error) {
	var st unix.Stat_t
	switch err := unix.Lstat(path, &st); err {
	case nil:
		return true, nil
	case unix.ENOENT, unix.ENOTDIR:
		return false, nil
	default:
		return false, &os.PathError{Op: "lstat", Path: path, Err: err}
	}
}

// existsIn reports whether an open directory has an entry of that name.
func existsIn(dir *os.File, name string) (bool, error) {
	var st unix.Stat_t
	switch err := unix.Fstatat(int(dir.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW); err {
	case nil:
		return true, nil
	case unix.ENOENT:
		return false, nil
	default:
		return false, &os.PathError{Op: "fstatat", Path: name, Err: err}
	}
}

// readOnce reads with one system call what is there at an offset; that may be nothing.
func readOnce(f *os.File, p []byte, off int64) (int, error) {
	for {
		if n, err := unix.Pread(int(f.Fd()), p, off); err != unix.EINTR {
			return max(n, 0), err
		}
	}
}

// fileStateByFstat is fileState where the system has nothing better.
func fileStateByFstat(f *os.File) (size int64, linked bool, err error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return 0, false, &os.PathError{Op: "fstat", Path: f.Name(), Err: err}
	}
	return st.Size, st.Nlink > 0, nil
}

// openToWrite opens segment n, which is at path, in the open directory dir. A planted
// pipe that is opened for both directions blocks nobody.
func openToWrite(dir *os.File, path string, n uint64) (*os.File, error) {
	for {
		fd, err := unix.Openat(int(dir.Fd()), plainName(n), unix.O_RDWR|unix.O_APPEND|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, &os.PathError{Op: "open", Path: path, Err: err}
		}
		return os.NewFile(uintptr(fd), path), nil
	}
}

// holdDraft marks an open draft as in use for as long as the process lives.
func holdDraft(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }

// abandoned reports that nobody holds the draft any more.
func abandoned(path string) bool {
	f, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return true
	}
	defer f.Close()
	return !isTaken(holdDraft(f))
}

func isTaken(err error) bool { return errors.Is(err, unix.EWOULDBLOCK) }

func isFull(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }

func isSymlinkRefusal(err error) bool {
	return errors.Is(err, unix.ELOOP) || errors.Is(err, unix.EMLINK)
}
