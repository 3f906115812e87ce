//go:build !linux

package segment

import "os"

func dataSync(f *os.File) error { return f.Sync() }

func writeOut(*os.File, int64, int64) error { return nil }
