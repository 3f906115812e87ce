package fleet

import (
	"os"
	"syscall"
)

// birthOf returns what tells the directory at path from a later one.
func birthOf(path string) (b birth, changed int64, err error) {
	info, err := os.Lstat(path)
	if err != nil {
		return birth{}, 0, err
	}
	if st, ok := info.Sys().(*syscall.Win32FileAttributeData); ok {
		b.nano = st.CreationTime.Nanoseconds()
	}
	return b, info.ModTime().UnixNano(), nil
}
