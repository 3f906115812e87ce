//go:build !linux && !darwin && !windows

package main

import "os"

// isTerminal reports whether somebody types into, or looks at, the stream. Here it
// takes every character device for one.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
