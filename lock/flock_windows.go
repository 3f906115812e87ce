package lock

import (
	"errors"
	"os"
	"runtime"

	"golang.org/x/sys/windows"
)

const openFlags = 0

// A fileID tells a file from every other one that is there at the same time.
type fileID struct {
	volume    uint32
	high, low uint32
}

func idOf(f *os.File) (fileID, error) {
	var info windows.ByHandleFileInformation
	err := windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &info)
	return fileID{info.VolumeSerialNumber, info.FileIndexHigh, info.FileIndexLow}, err
}

// idAt returns what bears the name path.
func idAt(path string) (fileID, error) {
	f, err := os.Open(path)
	if err != nil {
		return fileID{}, err
	}
	defer f.Close()
	return idOf(f)
}

func yield() { runtime.Gosched() }

// The locked byte lies far behind the state line: a lock of Windows is mandatory,
// and the line must stay readable.
func lockedByte() *windows.Overlapped { return &windows.Overlapped{OffsetHigh: 1 << 20} }

func tryFlock(f *os.File) error {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, lockedByte())
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return errHeld
	}
	return err
}

func unflock(f *os.File) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, lockedByte())
}

func isReadOnly(err error) bool { return errors.Is(err, windows.ERROR_WRITE_PROTECT) }

func isUnsupported(err error) bool {
	return errors.Is(err, windows.ERROR_NOT_SUPPORTED) || errors.Is(err, windows.ERROR_INVALID_FUNCTION)
}
