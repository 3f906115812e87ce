package oneshot

import (
	"io"
	"syscall"

	"golang.org/x/sys/unix"
)

// unread returns how many bytes of a pipe its reader has not taken yet, and whether
// that can be told.
func unread(w io.Writer) (n int, known bool) {
	pipe, ok := w.(syscall.Conn)
	if !ok {
		return 0, false
	}
	raw, err := pipe.SyscallConn()
	if err != nil {
		return 0, false
	}
	if failed := raw.Control(func(fd uintptr) { n, err = unix.IoctlGetInt(int(fd), unix.TIOCINQ) }); failed != nil {
		err = failed
	}
	return n, err == nil
}
