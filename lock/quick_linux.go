package lock

import (
	"os"

	"golang.org/x/sys/unix"
)

// quickFlock is flock where that cannot wait for a network: the scheduler is not
// told of the call.
func quickFlock(fd uintptr, how int) error {
	if _, _, errno := unix.RawSyscall(unix.SYS_FLOCK, fd, uintptr(how), 0); errno != 0 {
		return errno
	}
	return nil
}

// openStamped opens the directory for [stampOf]. It is nil where the file system is not
// one of those that are known to stamp a directory that is renamed.
func openStamped(path string) *os.File {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	f := os.NewFile(uintptr(fd), path)
	var fs unix.Statfs_t
	if unix.Fstatfs(fd, &fs) == nil {
		switch uint32(fs.Type) {
		case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC:
			return f
		}
	}
	f.Close()
	return nil
}

func stampOf(dir *os.File) (stamp, error) {
	var st unix.Stat_t
	err := unix.Fstat(int(dir.Fd()), &st)
	return stamp{id: fileID{st.Dev, st.Ino}, changed: st.Ctim.Nano()}, err
}
