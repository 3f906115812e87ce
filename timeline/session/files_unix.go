//go:build unix

package session

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// openFlags keeps a planted symlink from leading out of the session directory,
// and a planted pipe from blocking the open.
const openFlags = unix.O_NOFOLLOW | unix.O_NONBLOCK

func ownedByCaller(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int64(stat.Uid) == int64(os.Geteuid())
}

func writableByOthers(info os.FileInfo) bool { return info.Mode().Perm()&0o002 != 0 }

// stampOf returns what the file system says of a plain file.
func stampOf(path string) stamp {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return stamp{}
	}
	return stamp{
		device: uint64(st.Dev), inode: uint64(st.Ino), size: st.Size,
		modified: st.Mtim.Nano(), changed: st.Ctim.Nano(),
	}
}
