package doctor

import (
	"slices"

	"golang.org/x/sys/unix"
)

func volumeOf(dir string) (volume, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return volume{}, err
	}
	name := unix.ByteSliceToString(st.Fstypename[:])
	block := uint64(st.Bsize)
	return volume{
		kind: name, remote: slices.Contains([]string{"nfs", "smbfs", "afpfs", "webdav"}, name),
		free: st.Bavail * block, bytes: st.Blocks * block, freeInodes: st.Ffree, inodes: st.Files,
	}, nil
}
