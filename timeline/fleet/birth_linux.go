package fleet

import "golang.org/x/sys/unix"

// birthOf returns what tells the directory at path from a later one.
func birthOf(path string) (b birth, changed int64, err error) {
	var st unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BASIC_STATS|unix.STATX_BTIME, &st); err != nil {
		return birth{}, 0, err
	}
	return birth{st.Ino, st.Btime.Sec, int64(st.Btime.Nsec)}, st.Mtime.Sec*1e9 + int64(st.Mtime.Nsec), nil
}
