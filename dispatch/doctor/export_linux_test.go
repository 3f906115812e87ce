package doctor

import (
	"strings"

	"golang.org/x/sys/unix"
)

// HolderOf returns which process locks a file, by what the kernel says.
func HolderOf(locks string, major, minor uint32, inode uint64) int {
	return parseLocks(strings.NewReader(locks))[fileID{unix.Mkdev(major, minor), inode}]
}

// OfWatches returns the finding about a limit of watches.
func OfWatches(limit, sessions int) (all []Finding) {
	collecting(&all).watches(limit, sessions)
	return all
}
