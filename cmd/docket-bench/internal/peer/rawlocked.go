package peer

import (
	"errors"
	"os"
	"path/filepath"
	"sync"

	"github.com/docket-go/docket/cmd/docket-bench/internal/machine"
	"github.com/docket-go/docket/cmd/docket-bench/internal/prose"
)

// locked is the limit for many processes: an advisory lock around the write, and the
// data sync after it.
type locked struct {
	raw
	lock *os.File
}

// RawLocked opens a file that several processes write lines to, and a lock file.
func RawLocked(dir string, d Durability) (Log, error) {
	f, err := openRaw(dir)
	if err != nil {
		return nil, err
	}
	lock, err := openLock(dir)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &locked{raw{durability: d, file: f}, lock}, nil
}

func openLock(dir string) (*os.File, error) {
	return os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
}

func (l *locked) Append(n uint64) error {
	l.mu.Lock()
	err := writeLocked(l.lock, l.file, n)
	l.mu.Unlock()
	if err != nil || l.durability == Buffered {
		return err
	}
	return machine.DataSync(l.file)
}

func writeLocked(lock, file *os.File, n uint64) error {
	if err := machine.Lock(lock); err != nil {
		return unsupported(err)
	}
	_, err := file.Write(prose.Line(n))
	return errors.Join(err, machine.Unlock(lock))
}

func (l *locked) Close() error { return errors.Join(l.lock.Close(), l.raw.Close()) }

// fresh is what a short-lived process has to do at least.
type fresh struct {
	dir string
	mu  sync.Mutex
}

// RawFresh opens the lock and the file anew for each line.
func RawFresh(dir string, d Durability) (Log, error) {
	if d != Buffered {
		return nil, unsupported(errors.ErrUnsupported)
	}
	return &fresh{dir: dir}, nil
}

func (r *fresh) Append(n uint64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	l, err := RawLocked(r.dir, Buffered)
	if err != nil {
		return err
	}
	return errors.Join(l.Append(n), l.Close())
}

func (r *fresh) Count() (int, error) {
	return CountLines(filepath.Join(r.dir, rawName), make([]byte, 128<<10))
}

func (r *fresh) Close() error { return nil }
