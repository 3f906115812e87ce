//go:build unix && !linux

package segment

import "os"

// fileState returns the size of an open file and whether it still has a name.
func fileState(f *os.File) (size int64, linked bool, err error) { return fileStateByFstat(f) }

// regularSize returns the size of a plain file, and false for any other.
func regularSize(f *os.File) (size int64, regular bool, err error) { return regularByStat(f) }

// highest knows nothing here: the listing tells.
func highest(*os.File) (n uint64, ok bool) { return 0, false }
