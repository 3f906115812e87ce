//go:build unix

package segment

import (
	"strings"

	"golang.org/x/sys/unix"
)

// readEnds reads the first and the last bytes of the plain file name in the directory
// dir, and reports whether none of others is there. It is done for each of many logs
// at a time, and goes without an os.File for that reason, and as short a way
// through the directories as there is.
func (l *Looker) readEnds(dir, name string, others []string) (e ends, alone bool, err error) {
	if from, ok := strings.CutPrefix(dir, l.below); ok && l.root != nil {
		from += "/"
		root := int(l.root.Fd())
		if fd, err := openBelow(root, from+name); err == nil {
			defer unix.Close(fd)
			return l.readOpen(fd, root, from, others)
		}
	}
	in, err := unix.Open(dir, searchFlags|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return ends{}, false, err
	}
	defer unix.Close(in)
	fd, err := unix.Openat(in, name, lookFlags|unix.O_NOFOLLOW, 0)
	if err != nil {
		return ends{}, false, err
	}
	defer unix.Close(fd)
	return l.readOpen(fd, in, "", others)
}

const lookFlags = unix.O_RDONLY | unix.O_NONBLOCK | unix.O_CLOEXEC

// readOpen is readEnds of an open file; the others are looked for behind the path from
// in the open directory in.
func (l *Looker) readOpen(fd, in int, from string, others []string) (e ends, alone bool, err error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return ends{}, false, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return ends{}, false, unix.EINVAL
	}
	e = ends{size: st.Size, changed: st.Mtim.Nano()}
	if e.head, err = readPart(fd, l.head[:], 0, st.Size); err != nil {
		return ends{}, false, err
	}
	e.tail = e.head
	if st.Size > lookBytes {
		e.tail, err = readPart(fd, l.tail[:], st.Size-lookBytes, st.Size)
	}
	for _, other := range others {
		if err == nil && unix.Fstatat(in, from+other, &st, unix.AT_SYMLINK_NOFOLLOW) != unix.ENOENT {
			return e, false, nil
		}
	}
	return e, true, err
}

func readPart(fd int, p []byte, from, to int64) ([]byte, error) {
	n, err := unix.Pread(fd, p[:min(to-from, int64(len(p)))], from)
	return p[:max(0, n)], err
}
