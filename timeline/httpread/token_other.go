//go:build !unix

package httpread

import "io/fs"

// others is false: the mode says nothing about other users here.
func others(fs.FileInfo) bool { return false }
