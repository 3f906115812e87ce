//go:build unix && !linux

package lock

import "golang.org/x/sys/unix"

func quickFlock(fd uintptr, how int) error { return unix.Flock(int(fd), how) }
