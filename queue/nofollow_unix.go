//go:build unix

package queue

import "golang.org/x/sys/unix"

// openFlags keeps a planted symlink from leading out of the session directory,
// and a planted pipe from blocking the open.
const openFlags = unix.O_NOFOLLOW | unix.O_NONBLOCK
