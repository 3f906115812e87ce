package segment

import (
	"encoding/binary"
	"os"

	"golang.org/x/sys/unix"
)

// fileState returns the size of an open file and whether it still has a name. It does
// not ask for the times: whoever looks at them makes the next write store a new one,
// which costs as much as the write.
func fileState(f *os.File) (size int64, linked bool, err error) {
	st, ok := untimed(f)
	if !ok {
		return fileStateByFstat(f)
	}
	return int64(st.Size), st.Nlink > 0, nil
}

// regularSize returns the size of a plain file, and false for any other. It does not ask
// for the times either.
func regularSize(f *os.File) (size int64, regular bool, err error) {
	st, ok := untimed(f)
	if !ok {
		return regularByStat(f)
	}
	return int64(st.Size), st.Mode&unix.S_IFMT == unix.S_IFREG, nil
}

// untimed returns false where the kernel is older, or forbids the call.
func untimed(f *os.File) (st unix.Statx_t, ok bool) {
	const wanted = unix.STATX_TYPE | unix.STATX_SIZE | unix.STATX_NLINK
	err := unix.Statx(int(f.Fd()), "", unix.AT_EMPTY_PATH, wanted, &st)
	return st, err == nil && st.Mask&wanted == wanted
}

// Where the fields of an entry stand that the kernel returns, and what it is long at
// least.
const (
	entryLengthAt = 16
	entryTypeAt   = 18
	entryNameAt   = 19
)

// highest reads an open directory and returns the highest number of a segment in it,
// and ok if that is a plain file and everything else with the name of a segment is one
// too. It is how a writer finds its segment among ten thousand without keeping one name.
func highest(dir *os.File) (n uint64, ok bool) {
	var block [4 << 10]byte
	plain, clear := uint64(0), true
	for {
		size, err := unix.ReadDirent(int(dir.Fd()), block[:])
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return 0, false
		}
		if size <= 0 {
			return n, clear && n > 0 && plain == n
		}
		for rest := block[:size]; len(rest) > entryNameAt; {
			length := int(binary.NativeEndian.Uint16(rest[entryLengthAt:]))
			if length <= entryNameAt || length > len(rest) {
				return 0, false
			}
			number, sealed, named := numberIn(rest[entryNameAt:length])
			clear = clear && (!named || rest[entryTypeAt] == unix.DT_REG)
			n = max(n, number)
			if !sealed {
				plain = max(plain, number)
			}
			rest = rest[length:]
		}
	}
}

// numberIn is parseName for a name that ends at a NUL byte.
func numberIn(name []byte) (n uint64, sealed, named bool) {
	if len(name) == 0 || name[0]-'0' > 9 {
		return 0, false, false
	}
	text := unix.ByteSliceToString(name)
	n, sealed = parseName(text)
	return n, sealed, n > 0
}
