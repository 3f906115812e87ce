//go:build !unix

package queue

// syncDir does nothing: this platform has no sync of a directory.
func syncDir(string) error { return nil }
