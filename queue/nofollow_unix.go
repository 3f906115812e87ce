//go:build unix

package queue

import (
	"os"

	"golang.org/x/sys/unix"
)

// openFlags keeps a planted symlink from leading out of the session directory,
// and a planted pipe from blocking the open.
const openFlags = unix.O_NOFOLLOW | unix.O_NONBLOCK

// linksOf returns how many names an open file has, and its size.
func linksOf(f *os.File) (links uint64, size int64) {
	var st unix.Stat_t
	if unix.Fstat(int(f.Fd()), &st) != nil {
		return 0, 0
	}
	return uint64(st.Nlink), st.Size
}
