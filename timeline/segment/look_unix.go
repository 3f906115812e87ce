//go:build unix

package segment

import "golang.org/x/sys/unix"

// readEnds reads the first and the last bytes of the plain file name in the directory
// dir, and reports whether none of others is there. It is done for each of many logs
// at a time, and goes without an os.File for that reason, and as short a way
// through the directories as there is.
func readEnds(dir, name string, others []string, head, tail []byte) (e ends, alone bool, err error) {
	in, err := unix.Open(dir, searchFlags|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return ends{}, false, err
	}
	defer unix.Close(in)
	fd, err := unix.Openat(in, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return ends{}, false, err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return ends{}, false, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return ends{}, false, unix.EINVAL
	}
	e = ends{size: st.Size, changed: st.Mtim.Nano()}
	if e.head, err = readPart(fd, head, 0, st.Size); err != nil {
		return ends{}, false, err
	}
	e.tail = e.head
	if st.Size > int64(len(head)) {
		e.tail, err = readPart(fd, tail, max(0, st.Size-int64(len(tail))), st.Size)
	}
	for _, other := range others {
		if err == nil && unix.Fstatat(in, other, &st, unix.AT_SYMLINK_NOFOLLOW) != unix.ENOENT {
			return e, false, nil
		}
	}
	return e, true, err
}

func readPart(fd int, p []byte, from, to int64) ([]byte, error) {
	n, err := unix.Pread(fd, p[:min(to-from, int64(len(p)))], from)
	return p[:max(0, n)], err
}
