//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package smallfile

import "golang.org/x/sys/unix"

// openFlags keep a planted link from leading out of the folder, and a planted pipe from
// blocking the open.
const openFlags = unix.O_NOFOLLOW | unix.O_NONBLOCK
