//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd)

package host

import "os"

// tryLock refuses: without peer credentials no host runs here anyway.
func tryLock(*os.File) (bool, error) { return false, ErrUnsupported }

func ownedByUs(os.FileInfo) bool { return false }
