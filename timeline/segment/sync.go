package segment

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync"
)

// A commits shares data syncs: the first caller that finds none running syncs for
// all that is written by then; those who come meanwhile wait, and the first of
// them syncs for the rest.
type commits struct {
	mu      sync.Mutex
	done    *sync.Cond
	file    *os.File // the segment that the handle holds open for writing
	n       uint64
	made    bool  // the engine made it: its name and everything before are durable
	written place // how far the file is written, as far as this handle knows
	synced  place
	busy    bool
	failed  error
}

func (c *commits) init() { c.done = sync.NewCond(&c.mu) }

// enter tells which segment the handle writes to from now on.
func (c *commits) enter(f *os.File, end place, made bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.file, c.n, c.made = f, end.segment, made
	if end.after(c.written) {
		c.written = end
	}
	if before := (place{end.segment, 0}); made && before.after(c.synced) {
		c.synced = before
	}
}

// leave tells that the file is about to be closed.
func (c *commits) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.file = nil
}

func (c *commits) wrote(end place) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.written = end
}

func (c *commits) fault() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed
}

// working reports that a data sync is being made.
func (c *commits) working() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.busy
}

// fail faults the handle. It stays so.
func (c *commits) fail(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed == nil {
		c.failed = fmt.Errorf("%w: %w", ErrFaulted, err)
	}
	return c.failed
}

// until returns once everything up to target is on stable storage.
func (c *commits) until(l *Log, target place) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		if !target.after(c.synced) {
			return nil
		}
		if c.failed != nil {
			return c.failed
		}
		if c.busy {
			c.done.Wait()
			continue
		}
		c.lead(l, target)
	}
}

// lead makes one data sync. It is called with mu locked and unlocks it meanwhile.
func (c *commits) lead(l *Log, target place) {
	file, made, reach := c.file, c.made, target
	if c.n != target.segment {
		file = nil
	}
	if file != nil && c.written.segment == target.segment && c.written.after(reach) {
		reach = c.written
	}
	c.busy = true
	c.mu.Unlock()
	err := l.flush(file, target.segment, made)
	c.mu.Lock()
	c.busy = false
	switch {
	case err == nil:
		if reach.after(c.synced) {
			c.synced = reach
		}
		c.made = c.made || c.n == target.segment
	case file != nil && errors.Is(err, os.ErrClosed):
		// The handle closed the file: the next round goes by its name.
	case c.failed == nil:
		c.failed = fmt.Errorf("%w: %w", ErrFaulted, err)
	}
	c.done.Broadcast()
}

// flush syncs segment n, through file if it is given, and whatever before it is
// not durable for sure.
func (l *Log) flush(file *os.File, n uint64, made bool) error {
	if file != nil && made {
		return l.disk.dataSync(file)
	}
	if file != nil {
		if err := l.disk.dataSync(file); err != nil {
			return err
		}
	}
	ls, err := l.list()
	if err != nil {
		return err
	}
	i, found := ls.index(n)
	if !found {
		return &CorruptError{Path: l.plainPath(n), Err: errMissing}
	}
	return l.syncEarlier(ls.segments[:i+1])
}

// syncEarlier syncs the last of the segments, and those before it back to one
// that the engine made: another writer may have synced nothing.
func (l *Log) syncEarlier(segments []entry) error {
	for i := len(segments) - 1; i >= 0; i-- {
		made, err := l.syncSegment(segments[i].n)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if made {
			return nil
		}
	}
	if len(segments) == 0 {
		return nil
	}
	return errors.Join(l.disk.syncDir(l.o.Dir), l.disk.syncDir(filepath.Dir(l.o.Dir)))
}

func (l *Log) syncSegment(n uint64) (made bool, err error) {
	f, info, err := openRegular(l.plainPath(n), syncFlags)
	if err != nil {
		return false, err
	}
	defer f.Close()
	made, _, err = glance(f, info.Size())
	if err != nil {
		return false, err
	}
	return made, l.disk.dataSync(f)
}

// Sync returns once the lines of w are on stable storage. Calls at the same time
// share one data sync. No lock is needed, and none should be held. An error is
// [ErrFaulted]: nobody knows then what of them is on the disk, and the handle
// refuses everything from there on.
func (l *Log) Sync(w Written) error {
	if l.o.Buffered {
		return nil
	}
	return l.commits.until(l, w.end)
}

// Hasten begins to put the lines of w on stable storage, so that a Sync a moment later
// waits less: what is done between the two costs no time then. It is for the holder of the
// record lock, before the next Write. It promises nothing. An error of the disk faults the
// handle, and Sync returns it: the system may tell it once. Where a Sync is at work,
// Hasten does nothing, for the next one is shared by many.
func (l *Log) Hasten(w Written) {
	l.writing.Lock()
	defer l.writing.Unlock()
	t := &l.tail
	if l.o.Buffered || t.file == nil || w.end != (place{t.n, t.end}) || l.commits.working() {
		return
	}
	if err := l.disk.writeOut(t.file, w.start, w.end.offset); err != nil {
		l.commits.fail(err)
	}
}

// SyncAll returns once everything that any process wrote before the call is on
// stable storage, unless a data sync of one of them failed before; see the package
// comment. What this handle synced already costs only a look. Errors are as for
// [Log.Sync], or of the look itself.
func (l *Log) SyncAll() error {
	if l.o.Buffered {
		return nil
	}
	target, err := l.newest()
	if err != nil {
		return err
	}
	return l.commits.until(l, target)
}

// newest returns the place behind everything that is written now.
func (l *Log) newest() (place, error) {
	l.writing.Lock()
	defer l.writing.Unlock()
	if t := &l.tail; t.file != nil {
		if size, current, err := t.look(); err == nil && current {
			return place{t.n, size}, nil
		}
	}
	for {
		ls, err := l.list()
		if err != nil || len(ls.segments) == 0 {
			return place{}, err
		}
		last := ls.segments[len(ls.segments)-1]
		if !last.plain {
			return place{last.n, math.MaxInt64}, nil
		}
		info, err := os.Lstat(l.plainPath(last.n))
		if err == nil {
			return place{last.n, info.Size()}, nil
		}
		if !errors.Is(err, os.ErrNotExist) {
			return place{}, fmt.Errorf("segment: %w", err)
		}
		// It was sealed meanwhile, because there is a newer one, or the log is gone.
	}
}
