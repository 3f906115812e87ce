package queue

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// reserveBytes is how much room is set aside at a time.
const reserveBytes = 64 << 10

// reserve sees to it that the file can grow to end without running out of disk. A
// file system that cannot set room aside is left as it is. Where there is not enough
// for a whole step it sets aside what is needed, and answers tight.
func reserve(f *os.File, now status, end int64) (tight bool, err error) {
	if now.room >= end {
		return false, nil
	}
	need := end - now.size
	err = allocate(f, now.size, need+reserveBytes)
	if tight = errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT); tight {
		err = allocate(f, now.size, need)
	}
	return tight, err
}

func allocate(f *os.File, from, length int64) error {
	for {
		err := unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, from, length)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS):
			return nil
		default:
			return err
		}
	}
}
