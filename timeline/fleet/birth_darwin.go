package fleet

import "golang.org/x/sys/unix"

// birthOf returns what tells the directory at path from a later one.
func birthOf(path string) (b birth, changed int64, err error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return birth{}, 0, err
	}
	return birth{st.Ino, st.Btim.Sec, st.Btim.Nsec}, st.Mtim.Nano(), nil
}
