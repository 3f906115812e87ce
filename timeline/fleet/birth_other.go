//go:build !linux && !darwin && !windows

package fleet

import "os"

// birthOf cannot tell a directory from a later one here.
func birthOf(path string) (b birth, changed int64, err error) {
	info, err := os.Lstat(path)
	if err != nil {
		return birth{}, 0, err
	}
	return birth{}, info.ModTime().UnixNano(), nil
}
