//go:build !linux

package realagent

// Isolate does nothing: there are no networks for one process here.
func Isolate() {}
