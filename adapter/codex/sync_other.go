//go:build !unix

package codex

// syncDir does nothing: a directory cannot be synced here.
func syncDir(string) error { return nil }
