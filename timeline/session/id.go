package session

import (
	"fmt"
	"runtime"
	"strings"
)

const maxIDBytes = 128

// ValidID returns nil if id can name a session: a letter or digit, then at most
// 127 letters, digits, dots, underscores and hyphens, all of ASCII. Everything
// else is [ErrBadID]. No other text ever becomes a part of a path.
//
// Ids are told apart byte by byte. Where the file system ignores case, two ids
// that differ in nothing else share one directory, so that the second one exists
// already. Windows drops a dot at the end of a name, so such ids are refused
// there; its device names (con, nul, ...) cannot be created there either.
func ValidID(id string) error {
	switch {
	case id == "":
		return fmt.Errorf("%w: it is empty: name a session", ErrBadID)
	case len(id) > maxIDBytes:
		return fmt.Errorf("%w: %.16q... has %d characters: use at most %d", ErrBadID, id, len(id), maxIDBytes)
	case !alphanumeric(id[0]):
		return fmt.Errorf("%w: %q: begin with a letter or a digit", ErrBadID, id)
	}
	for i := range len(id) {
		if !alphanumeric(id[i]) && !strings.ContainsRune("._-", rune(id[i])) {
			return fmt.Errorf("%w: %q: use letters, digits, dots, underscores and hyphens", ErrBadID, id)
		}
	}
	if runtime.GOOS == "windows" && strings.HasSuffix(id, ".") {
		return fmt.Errorf("%w: %q: Windows does not keep a dot at the end", ErrBadID, id)
	}
	return nil
}

func alphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
