//go:build unix

package machine

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Lock waits for the exclusive advisory lock of an open file.
func Lock(f *os.File) error {
	for {
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != unix.EINTR {
			return err
		}
	}
}

// Unlock frees it.
func Unlock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) }

// Settle writes back what the system still keeps in memory, so that it does not
// burden the next workload.
func Settle() { unix.Sync() }

// Spent is the processor time that this process has used.
func Spent() (time.Duration, error) {
	var u unix.Rusage
	err := unix.Getrusage(unix.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), err
}
