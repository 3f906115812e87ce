package watch

import "golang.org/x/sys/unix"

const zfsMagic = 0x2fc12fc1 // not in package unix

// isLocal reports whether only this machine changes what is in the directory dir, so
// that inotify tells of every change, or of an overflow. What is served by a program
// or by another machine is not local.
func isLocal(dir string) bool {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return false
	}
	switch int64(st.Type) {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, unix.TMPFS_MAGIC, zfsMagic:
		return true
	}
	return false
}
