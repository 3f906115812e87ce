package segment

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/docket-go/docket/lock/step"
)

// A tail is what a writing handle remembers of the newest segment. It holds while
// the file's size is what the handle left, and no next segment exists.
type tail struct {
	n        uint64
	path     string
	file     *os.File // nil: nothing is remembered
	end      int64
	next     uint64    // public lines in the log
	epoch    Epoch     // of the log; zero while it is empty
	dir      *os.File  // opened when the handle is used again
	upcoming [2]string // the names that the next segment can have
	buf      []byte
}

// drop forgets the segment. What was written to it and not synced yet is synced
// later through its name.
func (t *tail) drop(c *commits) error {
	if t.file == nil {
		return nil
	}
	c.leave()
	err := t.file.Close()
	if t.dir != nil {
		err = errors.Join(err, t.dir.Close())
	}
	*t = tail{next: t.next, buf: t.buf}
	return err
}

// settle makes the tail true: the newest segment is open, ends at a newline, and
// its end is known. Unless creating is set nothing is made, and the tail may stay
// without a file.
func (l *Log) settle(creating bool) error {
	t := &l.tail
	if t.file != nil {
		size, current, err := t.look()
		if err != nil {
			return err
		}
		// An empty segment needs a header first, or has got one of another writer.
		if current && size == t.end && t.end > 0 {
			return nil
		}
		if current && size > t.end && t.end > 0 {
			return l.catchUp(size)
		}
		if err := l.moveOn(); err != nil {
			return err
		}
	}
	ls, err := l.list()
	if err != nil {
		return err
	}
	last := entry{}
	if len(ls.segments) > 0 {
		last = ls.segments[len(ls.segments)-1]
	}
	if last.n > 0 && last.plain {
		return l.adopt(ls, creating)
	}
	if t.next, err = l.endOf(ls.segments); err != nil {
		return err
	}
	if t.epoch, err = l.epochOf(ls.segments); err != nil || !creating {
		return err
	}
	return l.create(ls.segments, max(ls.top, last.n)+1)
}

// look returns the size of the remembered segment and whether it is the newest
// still. This is all that a write into a held handle costs beside the write. The names
// are asked for each time, although the stamp of the directory would tell with one call
// that nothing changed: [Log.SyncAll] looks without the record lock, and a directory has
// its new stamp before others can see the new name.
func (t *tail) look() (size int64, current bool, err error) {
	if t.dir == nil {
		if t.dir, err = os.OpenFile(filepath.Dir(t.path), os.O_RDONLY|openFlags, 0); err != nil {
			if errors.Is(err, os.ErrNotExist) {
				return 0, false, nil
			}
			return 0, false, fmt.Errorf("segment: %w", err)
		}
	}
	size, current, err = fileState(t.file)
	if err == nil && current {
		current, err = t.newest()
	}
	if err != nil {
		return 0, false, fmt.Errorf("segment: %w", err)
	}
	return size, current, nil
}

// newest reports that the directory has neither of the upcoming names.
func (t *tail) newest() (bool, error) {
	for _, name := range t.upcoming {
		if there, err := existsIn(t.dir, name); there || err != nil {
			return false, err
		}
	}
	return true, nil
}

// moveOn leaves a segment that another writer has closed. That writer may not have
// synced it.
func (l *Log) moveOn() error {
	t := &l.tail
	var err error
	if !l.o.Buffered {
		err = l.Sync(Written{end: place{t.n, t.end}})
	}
	return errors.Join(err, t.drop(&l.commits))
}

// catchUp reads what other writers appended since, and removes a torn tail.
func (l *Log) catchUp(size int64) error {
	t := &l.tail
	src := &source{n: t.n, path: t.path, file: t.file}
	end, err := lastNewline(t.file, t.end, size)
	if err != nil {
		return err
	}
	next, err := l.scan(src, t.end, end, t.next, nil)
	if err != nil {
		return err
	}
	if err := l.heal(end, size); err != nil {
		return err
	}
	t.end, t.next = end, next
	l.commits.wrote(place{t.n, t.end})
	return nil
}

// heal removes the bytes behind the last newline: a line that was never committed.
func (l *Log) heal(end, size int64) error {
	t := &l.tail
	if end == size {
		return nil
	}
	step.At("segment: torn tail found")
	if err := l.disk.truncate(t.file, end); err != nil {
		return fmt.Errorf("segment: remove the torn tail of %s: %w", t.path, err)
	}
	step.At("segment: torn tail removed")
	return nil
}

// adopt opens the newest segment, which another handle made.
func (l *Log) adopt(ls listing, creating bool) error {
	segments := ls.segments
	n := segments[len(segments)-1].n
	f, info, err := openRegular(l.plainPath(n), os.O_RDWR|os.O_APPEND)
	if err != nil {
		return err
	}
	l.tail.hold(l, n, f)
	if err := l.learn(segments, info.Size(), creating); err != nil {
		return errors.Join(err, l.tail.drop(&l.commits))
	}
	return nil
}

// hold remembers an open segment of which nothing is known yet.
func (t *tail) hold(l *Log, n uint64, f *os.File) {
	upcoming := [2]string{plainName(n + 1), sealedName(n + 1)}
	*t = tail{n: n, path: f.Name(), file: f, next: t.next, upcoming: upcoming, buf: t.buf}
}

// learn finds the end of the newest segment and the sequence there.
func (l *Log) learn(segments []entry, size int64, creating bool) error {
	t := &l.tail
	src := &source{n: t.n, path: t.path, file: t.file}
	end, err := lastNewline(t.file, 0, size)
	if err != nil {
		return err
	}
	next, known, err := l.behind(src, end, 2)
	if err != nil {
		return err
	}
	earlier := segments[:len(segments)-1]
	if !known {
		before, err := l.endOf(earlier)
		if err != nil {
			return err
		}
		next += before
	}
	head, err := firstLine(src, min(end, maxHeaderBytes))
	if err != nil {
		return err
	}
	made, later := glanceAt(head)
	if later {
		return fmt.Errorf("%w: %s: upgrade to write to it", ErrVersion, t.path)
	}
	if err := l.heal(end, size); err != nil {
		return err
	}
	t.end, t.next = end, next
	if t.epoch, err = l.epochBy(head, segments); err != nil {
		return err
	}
	l.commits.enter(t.file, place{t.n, t.end}, made)
	if end == 0 && creating {
		return l.complete(earlier)
	}
	return l.nameDurable(head, firstNumbered(earlier))
}

// epochBy is epochOf for one who has read the first line of the last segment.
func (l *Log) epochBy(head []byte, segments []entry) (Epoch, error) {
	if h, err := parseHeader(head); err == nil {
		return h.Epoch, nil
	}
	return l.epochOf(segments)
}

// nameDurable syncs the directory of a segment that holds nothing but its header:
// whoever made it may have died before that.
func (l *Log) nameDurable(head []byte, first bool) error {
	if !looksLikeHeader(head) || int64(len(head))+1 != l.tail.end {
		return nil
	}
	return l.syncNames(first)
}

// endOf returns the public sequence behind the last of the segments.
func (l *Log) endOf(segments []entry) (uint64, error) {
	total := uint64(0)
	for i := len(segments) - 1; i >= 0; i-- {
		after, known, err := l.endIn(segments[i].n)
		if errors.Is(err, errMissing) {
			continue
		}
		if err != nil {
			return 0, err
		}
		total += after
		if known {
			break
		}
	}
	return total, nil
}

// endIn looks for the end in one segment only; see [Log.behind].
func (l *Log) endIn(n uint64) (after uint64, known bool, err error) {
	src, err := l.open(n)
	if err != nil {
		return 0, false, err
	}
	defer src.Close()
	if src.seal != nil && src.seal.summary != nil {
		return src.seal.summary.Next, true, nil
	}
	end, err := src.committed(0)
	if err != nil {
		return 0, false, err
	}
	return l.behind(src, end, 2)
}
