//go:build !linux

package machine

import "os"

// DataSync puts what was written to f on stable storage.
func DataSync(f *os.File) error { return f.Sync() }
