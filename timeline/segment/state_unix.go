//go:build unix && !linux

package segment

import "os"

// fileState returns the size of an open file and whether it still has a name.
func fileState(f *os.File) (size int64, linked bool, err error) { return fileStateByFstat(f) }
