//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd || windows)

package filelock

import "os"

// Try answers that there is no such lock here.
func Try(*os.File) (bool, error) { return false, ErrUnsupported }
