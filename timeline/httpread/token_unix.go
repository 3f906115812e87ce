//go:build unix

package httpread

import "io/fs"

// others reports whether somebody else than the owner can read or write the file.
func others(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }
