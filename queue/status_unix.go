//go:build unix

package queue

import (
	"os"

	"golang.org/x/sys/unix"
)

// A status is what the system says of a file. To ask for no more than this takes a
// third of the time of os.Lstat.
type status struct {
	device, inode uint64
	links         uint64 // how many names it has; 0 if that is not known
	size          int64
	room          int64  // bytes that it has on the disk
	mode          uint32 // who may do what with it
}

func (s *status) same(o *status) bool { return s.inode == o.inode && s.device == o.device }

func statusAt(path string) (status, error) {
	var st unix.Stat_t
	err := unix.Lstat(path, &st)
	if err != nil {
		return status{}, &os.PathError{Op: "lstat", Path: path, Err: err}
	}
	return statusFrom(&st), nil
}

func statusOf(f *os.File) (status, error) {
	var st unix.Stat_t
	err := unix.Fstat(int(f.Fd()), &st)
	if err != nil {
		return status{}, &os.PathError{Op: "fstat", Path: f.Name(), Err: err}
	}
	return statusFrom(&st), nil
}

func statusFrom(st *unix.Stat_t) status {
	return status{uint64(st.Dev), st.Ino, uint64(st.Nlink), st.Size, st.Blocks * 512, uint32(st.Mode) & 0o777}
}
