//go:build unix

package dispatch

import (
	"math"
	"syscall"
)

// descriptors returns how many descriptors the process may have.
func descriptors() uint64 {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) != nil {
		return math.MaxUint64
	}
	return uint64(l.Cur)
}
