//go:build !unix

package oneshot

// syncDir does nothing: a directory cannot be synced here.
func syncDir(string) error { return nil }
