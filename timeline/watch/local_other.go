//go:build !linux

package watch

// isLocal is not known here.
func isLocal(string) bool { return false }
