package lock

import "golang.org/x/sys/unix"

// quickFlock is flock where that cannot wait for a network: the scheduler is not
// told of the call.
func quickFlock(fd uintptr, how int) error {
	if _, _, errno := unix.RawSyscall(unix.SYS_FLOCK, fd, uintptr(how), 0); errno != 0 {
		return errno
	}
	return nil
}
