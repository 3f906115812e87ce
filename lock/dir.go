package lock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/docket-go/docket/lock/stamp"
)

const (
	recordFile   = "record.lock"
	deliveryFile = "delivery.lock"
	turnsFile    = "turns.lock"

	// DefaultWait bounds a wait when [Options] does not say otherwise.
	DefaultWait = 10 * time.Second
)

// Options configures a [Dir]. The zero value is ready to use.
type Options struct {
	// Wait bounds each wait for a lock. Zero means [DefaultWait]; a negative value
	// means that only the context bounds it.
	Wait time.Duration
}

// A Dir gives access to the locks of one session directory. It keeps the lock
// files open between uses, and from the second use of one on the directory too; call
// [Dir.Close] when done with the session. It is safe for concurrent use, and several
// Dirs of one directory exclude each other.
type Dir struct {
	path     string
	identity fileID
	wait     time.Duration
	record   kernelLock
	delivery kernelLock
	turns    kernelLock

	stamping sync.Mutex
	stamps   *stamp.Dir
	asked    bool // stamps is nil because it cannot be trusted
}

// Open prepares the locks of the session directory dir, which must exist; nothing
// is created and nothing locked yet. The error is [ErrClosed] when there is no
// such directory.
func Open(dir string, o Options) (*Dir, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("lock: %s: %w", dir, err)
	}
	identity, isDir, err := dirAt(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", ErrClosed, err)
	}
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	if !isDir {
		return nil, fmt.Errorf("%w: %s is not a directory", ErrClosed, path)
	}
	wait := o.Wait
	if wait == 0 {
		wait = DefaultWait
	}
	d := &Dir{path: path, identity: identity, wait: wait}
	d.record.init(d, "record", recordFile)
	d.delivery.init(d, "delivery", deliveryFile)
	d.turns.init(d, "turns", turnsFile)
	return d, nil
}

// Path returns the session directory as an absolute path.
func (d *Dir) Path() string { return d.path }

// Close gives back the lock files' descriptors. A lock that is still held is
// freed by it: release first. The Dir can be used again afterwards.
func (d *Dir) Close() error {
	err := errors.Join(d.record.close(), d.delivery.close(), d.turns.close())
	d.stamping.Lock()
	defer d.stamping.Unlock()
	if d.stamps != nil {
		err = errors.Join(err, d.stamps.Close())
	}
	d.stamps, d.asked = nil, false
	return err
}

// stamped returns the open directory, nil where its stamp cannot be trusted.
func (d *Dir) stamped() *stamp.Dir {
	d.stamping.Lock()
	defer d.stamping.Unlock()
	if d.asked {
		return d.stamps
	}
	d.asked = true
	s, err := stamp.Open(d.path)
	if err != nil {
		return nil
	}
	if !s.Trusted() || !d.identity.is(s) {
		s.Close()
		return nil
	}
	d.stamps = s
	return s
}

// Record waits for the record lock. The caller must release it soon: every other
// writer of the session waits for it, and it must never be held across a call of
// a harness.
//
// The error is a [*TimeoutError], [ErrClosed], [ErrUnsupported], [ErrReadOnly],
// or wraps the context's; nothing is held then.
func (d *Dir) Record(ctx context.Context) (r *Record, err error) {
	// So short that it is inlined: a hold that ends in its caller is no garbage.
	if err = d.record.acquire(ctx); err == nil {
		r = &Record{hold: hold{lock: &d.record}}
	}
	return r, err
}

// Delivery waits for the delivery lock, which is held for one whole pass. The
// caller must not hold the record lock of any session. Errors are as for
// [Dir.Record].
func (d *Dir) Delivery(ctx context.Context) (*Delivery, error) {
	if err := d.delivery.acquire(ctx); err != nil {
		return nil, err
	}
	return &Delivery{hold{lock: &d.delivery}}, nil
}

// TryDelivery takes the delivery lock if it is free now, and answers [ErrBusy]
// without waiting if it is not.
func (d *Dir) TryDelivery() (*Delivery, error) {
	if err := d.delivery.try(); err != nil {
		return nil, err
	}
	return &Delivery{hold{lock: &d.delivery}}, nil
}

// Delivering reports, without taking the delivery lock, whether somebody holds it: a
// pass is at work, or somebody decides about a message at this moment. It creates
// nothing and keeps nobody from the lock. Where the lock cannot be asked for, the answer
// is no. It may be called at any time; a holder that died is none.
func (d *Dir) Delivering() bool {
	f, err := os.OpenFile(d.delivery.path, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	shared, err := shareFlock(f.Fd())
	if shared {
		err = unflock(f.Fd(), false)
	}
	return errors.Is(err, errHeld)
}

// TryTurns takes the turns lock if it is free now, and answers [ErrBusy] without
// waiting if it is not: its holder keeps it for as long as it writes turns. Other
// errors are as for [Dir.Record]. If the process dies, the lock is free.
func (d *Dir) TryTurns() (*Turns, error) {
	if err := d.turns.try(); err != nil {
		return nil, err
	}
	return &Turns{hold{lock: &d.turns}}, nil
}

// Gone reports that the directory that was opened is not at its path any more:
// it was removed, renamed or replaced. A path that cannot be looked at, as below a
// directory that may not be entered, proves nothing: the directory is not gone then.
func (d *Dir) Gone() bool {
	now, err := idAt(d.path)
	if err != nil {
		return errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
	}
	return now != d.identity
}

// Interrupted reports, without taking the lock, that the last change of several
// files is not complete: its holder is still at work, or died, or the machine
// restarted since. A directory in which nobody ever took the record lock is not
// interrupted. Only a holder knows for certain: see [Record.Interrupted].
func (d *Dir) Interrupted() bool {
	f, err := os.OpenFile(d.record.path, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	var s state
	s.read(f)
	return s.interrupted
}

// A Set is several record locks that were taken together.
type Set struct{ records []*Record }

// Records takes the record locks of all dirs, in the order of their paths, so
// that callers with overlapping sets cannot wait for each other for ever. A
// directory that is named twice is locked once. On an error nothing is held.
func Records(ctx context.Context, dirs ...*Dir) (*Set, error) {
	sorted := slices.Clone(dirs)
	slices.SortFunc(sorted, func(a, b *Dir) int { return strings.Compare(a.path, b.path) })
	sorted = slices.CompactFunc(sorted, func(a, b *Dir) bool { return a.path == b.path })
	s := &Set{}
	for _, d := range sorted {
		r, err := d.Record(ctx)
		if err != nil {
			return nil, errors.Join(err, s.Release())
		}
		s.records = append(s.records, r)
	}
	return s, nil
}

// Of returns the held record lock of d's directory, or nil if d is not in the set.
func (s *Set) Of(d *Dir) *Record {
	for _, r := range s.records {
		if r.lock.dir.path == d.path {
			return r
		}
	}
	return nil
}

// Release frees all locks of the set. Calling it again does nothing.
func (s *Set) Release() error {
	var errs []error
	for _, r := range slices.Backward(s.records) {
		errs = append(errs, r.Release())
	}
	return errors.Join(errs...)
}
