package queue

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// reserveBytes is how much room is set aside at a time.
const reserveBytes = 64 << 10

// reserve sees to it that the file can grow to end without running out of disk. A
// file system that cannot set room aside is left as it is.
func reserve(f *os.File, end int64) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	room := info.Size()
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		room = s.Blocks * 512
	}
	if room >= end {
		return nil
	}
	for {
		err = unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, info.Size(), end-info.Size()+reserveBytes)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		return nil
	}
	return err
}
