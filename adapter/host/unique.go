package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/docket-go/docket/adapter/smallfile"
)

// A unique is the host lock, held for the life of a broker. If the process dies, it
// is free.
type unique struct {
	dir  string
	file *os.File
	info os.FileInfo
}

// takeUnique makes this process the session's only broker.
func takeUnique(dir string) (*unique, error) {
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", ErrClosed, dir)
	}
	f, err := smallfile.Open(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("host: %w", err)
	}
	u := &unique{dir: dir, file: f}
	free, err := tryLock(f)
	if err == nil && !free {
		err = fmt.Errorf("session %s: %w", filepath.Base(dir), ErrRunning)
	}
	if err == nil {
		u.info, err = f.Stat()
	}
	if err == nil && u.gone() {
		err = fmt.Errorf("%w: %s", ErrClosed, dir)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return u, nil
}

// gone reports that the lock file is not in the session directory any more: the
// session was closed, or somebody removed the lock.
func (u *unique) gone() bool {
	now, err := os.Lstat(filepath.Join(u.dir, lockFile))
	return err != nil || !os.SameFile(now, u.info)
}

func (u *unique) release() error { return u.file.Close() }
