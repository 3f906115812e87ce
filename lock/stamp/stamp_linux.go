package stamp

import (
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// distinct reports that a file that was looked at gets another time at its next change,
// however soon that comes.
var distinct = sync.OnceValue(func() bool {
	var u unix.Utsname
	var major, minor int
	if unix.Uname(&u) != nil {
		return false
	}
	if _, err := fmt.Sscanf(unix.ByteSliceToString(u.Release[:]), "%d.%d", &major, &minor); err != nil {
		return false
	}
	return major > 6 || (major == 6 && minor >= 13)
})

func open(path string) (f *os.File, trusted bool, err error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, false, &os.PathError{Op: "open", Path: path, Err: err}
	}
	var fs unix.Statfs_t
	if unix.Fstatfs(fd, &fs) == nil {
		switch uint32(fs.Type) {
		case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC:
			trusted = true
		}
	}
	return os.NewFile(uintptr(fd), path), trusted, nil
}

func (d *Dir) state() (state, error) {
	var st unix.Stat_t
	err := quickStat(d.fd, &st)
	return state{uint64(st.Dev), st.Ino, st.Ctim.Nano()}, err
}

// Is reports that the directory has this device and inode.
func (d *Dir) Is(device, inode uint64) bool {
	s, err := d.state()
	return err == nil && s.device == device && s.inode == inode
}
