package lock

import (
	"errors"
	"os"
	"runtime"

	"golang.org/x/sys/windows"

	"github.com/docket-go/docket/lock/stamp"
)

const openFlags = 0

// A fileID tells a file from every other one that is there at the same time.
type fileID struct {
	volume    uint32
	high, low uint32
}

func (fileID) is(*stamp.Dir) bool { return false }

// openLock opens a lock file, and makes it if it is not there.
func openLock(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|openFlags, 0o600)
}

func idOf(f *os.File) (id fileID, regular bool, err error) {
	var info windows.ByHandleFileInformation
	err = windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &info)
	regular = info.FileAttributes&windows.FILE_ATTRIBUTE_DIRECTORY == 0
	return fileID{info.VolumeSerialNumber, info.FileIndexHigh, info.FileIndexLow}, regular, err
}

// idAt returns what bears the name path.
func idAt(path string) (fileID, error) {
	f, err := os.Open(path)
	if err != nil {
		return fileID{}, err
	}
	defer f.Close()
	id, _, err := idOf(f)
	return id, err
}

// dirAt is idAt that also tells whether it is a directory.
func dirAt(path string) (id fileID, dir bool, err error) {
	info, err := os.Lstat(path)
	if err != nil {
		return fileID{}, false, err
	}
	id, err = idAt(path)
	return id, info.IsDir(), err
}

func yield() { runtime.Gosched() }

// The locked byte lies far behind the state line: a lock of Windows is mandatory,
// and the line must stay readable.
func lockedByte() *windows.Overlapped { return &windows.Overlapped{OffsetHigh: 1 << 20} }

func tryFlock(fd uintptr, _ bool) error {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(fd), flags, 0, 1, 0, lockedByte())
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return errHeld
	}
	return err
}

// shareFlock takes the lock beside others who only look, who may be many, or answers
// errHeld if somebody has it for himself. What it took must be given back at once.
func shareFlock(fd uintptr) (taken bool, err error) {
	err = windows.LockFileEx(windows.Handle(fd), windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, lockedByte())
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		err = errHeld
	}
	return err == nil, err
}

func unflock(fd uintptr, _ bool) error {
	return windows.UnlockFileEx(windows.Handle(fd), 0, 1, 0, lockedByte())
}

func isReadOnly(err error) bool { return errors.Is(err, windows.ERROR_WRITE_PROTECT) }

func isUnsupported(err error) bool {
	return errors.Is(err, windows.ERROR_NOT_SUPPORTED) || errors.Is(err, windows.ERROR_INVALID_FUNCTION)
}
