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
