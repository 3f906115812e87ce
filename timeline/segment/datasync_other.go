//go:build !linux

package segment

import "os"

func dataSync(f *os.File) error { return f.Sync() }
