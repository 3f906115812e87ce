package segment

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// dataSync puts a file's bytes and size on stable storage. The descriptor cannot
// be closed under it; that it is closed already is [os.ErrClosed].
func dataSync(f *os.File) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = conn.Control(func(fd uintptr) {
		for {
			if failed = unix.Fdatasync(int(fd)); failed != unix.EINTR {
				return
			}
		}
	})
	if err != nil {
		return fmt.Errorf("%w: %w", os.ErrClosed, err)
	}
	if failed != nil {
		return &os.PathError{Op: "fdatasync", Path: f.Name(), Err: failed}
	}
	return nil
}

// writeOut begins to write a part of a file to the disk, and waits for none of it. An
// error may be all that is ever told of bytes that are lost.
func writeOut(f *os.File, from, to int64) error {
	switch err := unix.SyncFileRange(int(f.Fd()), from, to-from, unix.SYNC_FILE_RANGE_WRITE); err {
	case nil, unix.EINTR, unix.ENOSYS, unix.EPERM, unix.EINVAL, unix.EOPNOTSUPP:
		return nil // it is done, or the sync does all of it
	default:
		return &os.PathError{Op: "sync_file_range", Path: f.Name(), Err: err}
	}
}
