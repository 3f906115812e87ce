// Package filelock locks an open file against the other handles that there are of it.
//
// # What it keeps
//
// Nothing. The locks are the kernel's: flock, and LockFileEx on Windows.
//
// # Guarantees
//
// A lock has one holder on this machine, and goes with the handle. It keeps off only those
// that ask for it, too. Where no such lock is known, [Try] says so ([ErrUnsupported]).
//
// # Crashes
//
// The lock of a process that dies is free at once.
//
// # Format
//
// Nothing is written.
package filelock

import "errors"

// ErrUnsupported is returned by [Try] where no lock goes with a handle.
var ErrUnsupported = errors.New("filelock: no lock goes with a handle of a file here")
