package machine

import (
	"os"

	"golang.org/x/sys/unix"
)

// DataSync puts what was written to f on stable storage, with as much of its
// metadata as is needed to read it back.
func DataSync(f *os.File) error { return unix.Fdatasync(int(f.Fd())) }
