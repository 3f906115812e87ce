//go:build unix

package httpread

import (
	"io/fs"
	"os"
	"syscall"
)

// openFlags keep a pipe from making who opens it wait for a writer.
const openFlags = syscall.O_NONBLOCK

// others reports whether somebody else than the owner can read or write the file.
func others(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }

// ours reports whether the file belongs to the user of this process or to root.
func ours(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && (stat.Uid == 0 || int64(stat.Uid) == int64(os.Geteuid()))
}
