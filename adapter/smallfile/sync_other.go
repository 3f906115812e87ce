//go:build !unix

package smallfile

// SyncDir does nothing: a directory cannot be synced here.
func SyncDir(string) error { return nil }
