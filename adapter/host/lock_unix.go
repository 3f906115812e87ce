//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package host

import (
	"os"
	"syscall"

	"github.com/docket-go/docket/adapter/filelock"
)

// tryLock locks an open file against other handles, without waiting.
func tryLock(f *os.File) (bool, error) { return filelock.Try(f) }

// ownedByUs reports whether this user made the file.
func ownedByUs(info os.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}
