package doctor

import (
	"os"
	"strings"
)

// holderIn returns which process holds a lock in a session's directory, of those that
// hold one for a moment only; 0 if none is known.
func holderIn(dir string, held map[fileID]int) int {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || !isRecordLock(entry.Name()) {
			continue
		}
		return held[idOf(info)]
	}
	return 0
}

// isRecordLock reports whether a file's name is that of a record lock. What the file
// is called is for package lock to say, which calls the lock by the word before it.
func isRecordLock(name string) bool { return strings.TrimSuffix(name, ".lock") == "record" }
