//go:build unix && !linux

package lock

import "runtime"

// yield lets other goroutines run.
func yield() { runtime.Gosched() }
