//go:build !linux

package dispatch_test

import "testing"

// seesSyncs: only Linux tells which bytes of a file are not written back yet.
func seesSyncs() bool { return false }

func onDisk(testing.TB, string) bool { return false }
