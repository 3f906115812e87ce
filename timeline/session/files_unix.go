//go:build unix

package session

import (
	"errors"
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

func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
