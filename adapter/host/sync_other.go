//go:build !unix

package host

// syncDir does nothing: a directory cannot be synced here.
func syncDir(string) error { return nil }
