//go:build unix

package doctor

import (
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

const hasPermissions = true

// ownerOf returns the name of the user whom a file belongs to, and whether that is the
// caller.
func ownerOf(info fs.FileInfo) (name string, own bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", false
	}
	name = strconv.FormatUint(uint64(st.Uid), 10)
	if u, err := user.LookupId(name); err == nil {
		name = u.Username
	}
	return name, int(st.Uid) == os.Geteuid()
}

// A fileID tells a file from every other one, in the numbers of the kernel.
type fileID struct{ device, inode uint64 }

func idOf(info fs.FileInfo) fileID {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileID{}
	}
	return fileID{uint64(st.Dev), uint64(st.Ino)}
}
