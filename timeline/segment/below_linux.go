package segment

import "golang.org/x/sys/unix"

// openBelow opens a file for a look by its path below an open directory. A link on that
// way is an error: what it leads to is not looked at, as it would not be step by step.
func openBelow(root int, path string) (fd int, err error) {
	return unix.Openat2(root, path, &unix.OpenHow{Flags: lookFlags, Resolve: unix.RESOLVE_NO_SYMLINKS})
}
