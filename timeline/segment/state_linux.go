package segment

import (
	"os"

	"golang.org/x/sys/unix"
)

// fileState returns the size of an open file and whether it still has a name. It does
// not ask for the times: whoever looks at them makes the next write store a new one,
// which costs as much as the write.
func fileState(f *os.File) (size int64, linked bool, err error) {
	const wanted = unix.STATX_SIZE | unix.STATX_NLINK
	var st unix.Statx_t
	if err := unix.Statx(int(f.Fd()), "", unix.AT_EMPTY_PATH, wanted, &st); err != nil || st.Mask&wanted != wanted {
		return fileStateByFstat(f) // the kernel is older, or forbids the call
	}
	return int64(st.Size), st.Nlink > 0, nil
}
