package segment

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/lock/stamp"
	"github.com/docket-go/docket/lock/step"
)

// A tail is what a writing handle remembers of the newest segment. It holds while
// the file bears its name, its size is what the handle left, and no next segment exists.
type tail struct {
	n        uint64
	path     string
	file     *os.File // nil: nothing is remembered
	end      int64
	next     uint64     // public lines in the log
	epoch    Epoch      // of the log; zero while it is empty
	dir      *stamp.Dir // opened when the handle is used again
	mark     stamp.Mark // in dir, of the last look under the record lock
	upcoming [2]string  // the names that the next segment can have
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
func (l *Log) settle(held *lock.Record, creating bool) error {
	t := &l.tail
	if t.file != nil {
		size, current, err := t.lookUnder(held)
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
	if done, err := l.adoptHighest(held, creating); done || err != nil {
		return err
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
		return l.adopt(ls.segments, creating)
	}
	if t.next, err = l.endOf(ls.segments); err != nil {
		return err
	}
	if t.epoch, err = l.epochOf(ls.segments); err != nil || !creating {
		return err
	}
	return l.create(ls.segments, max(ls.top, last.n)+1)
}

// lookUnder is [tail.look] for one who holds the record lock, and all that a write into
// a held handle costs beside the write: while the directory has the stamp that it had
// at the last such look, the segment has its name still and no other has come. Names
// come and go under the record lock only, but for drafts, so that no look falls in the
// moment in which a directory has its new stamp and others cannot see the new name yet.
// One without the lock would fall into it, and believe for ever that there is no next
// segment; which is why the lock is asked for here.
func (t *tail) lookUnder(*lock.Record) (size int64, current bool, err error) {
	if t.dir == nil {
		return t.look()
	}
	if !t.mark.Stands(t.dir, 0) {
		t.mark.Look(t.dir)
		return t.look()
	}
	if size, err = t.file.Seek(0, io.SeekEnd); err != nil {
		return 0, false, fmt.Errorf("segment: %w", err)
	}
	return size, true, nil
}

// look returns the size of the remembered segment and whether it is the newest
// still.
func (t *tail) look() (size int64, current bool, err error) {
	if t.dir == nil {
		if t.dir, err = stamp.Open(filepath.Dir(t.path)); err != nil {
			if errors.Is(err, os.ErrNotExist) {
				return 0, false, nil
			}
			return 0, false, fmt.Errorf("segment: %w", err)
		}
	}
	size, current, err = fileState(t.file)
	if err == nil && current {
		current, err = t.inPlace()
	}
	if err == nil && current {
		current, err = t.newest()
	}
	if err != nil {
		return 0, false, fmt.Errorf("segment: %w", err)
	}
	return size, current, nil
}

// inPlace reports that the segment bears its name, and the open directory its own. Somebody
// may have moved either of them, and put a copy there: what is open is no part of the log
// then, and what is written to it would be seen by nobody.
func (t *tail) inPlace() (bool, error) {
	for _, open := range []*os.File{t.file, t.dir.File()} {
		there, err := os.Stat(open.Name())
		if errors.Is(err, os.ErrNotExist) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		info, err := open.Stat()
		if err != nil || !os.SameFile(there, info) {
			return false, err
		}
	}
	return true, nil
}

// newest reports that the directory has neither of the upcoming names.
func (t *tail) newest() (bool, error) {
	for _, name := range t.upcoming {
		if there, err := existsIn(t.dir.File(), name); there || err != nil {
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

// adoptHighest opens the newest segment, which another handle made, if a note or one
// reading of the names tells which that is. It does not have to look for names that the
// reading missed, as [Log.list] does for those who hold no lock: names of segments come and
// go under the record lock only, and the file system must be one that misses no name that
// stays. Whatever is not as usual is left to the listing.
func (l *Log) adoptHighest(held *lock.Record, creating bool) (done bool, err error) {
	dir, err := stamp.Open(l.o.Dir)
	if err != nil {
		return false, nil
	}
	if dir.Trusted() {
		if n, ok := l.highest(held, dir); ok {
			done, err = l.adoptIn(dir, n, creating)
		}
	}
	if l.tail.dir != dir {
		err = errors.Join(err, dir.Close())
	}
	return done, err
}

// adoptIn opens the plain segment n in dir, which the tail keeps.
func (l *Log) adoptIn(dir *stamp.Dir, n uint64, creating bool) (done bool, err error) {
	f, err := openToWrite(dir.File(), l.plainPath(n), n)
	if err != nil {
		return false, nil
	}
	size, regular, err := regularSize(f)
	if err != nil || !regular {
		return false, f.Close()
	}
	l.tail.hold(n, f)
	l.tail.dir = dir
	if err := l.learn(nil, size, creating); err != nil {
		return true, errors.Join(err, l.tail.drop(&l.commits))
	}
	return true, nil
}

// adopt opens the newest of the segments, which another handle made.
func (l *Log) adopt(segments []entry, creating bool) error {
	n := segments[len(segments)-1].n
	f, info, err := openRegular(l.plainPath(n), os.O_RDWR|os.O_APPEND)
	if err != nil {
		return err
	}
	l.tail.hold(n, f)
	if err := l.learn(segments, info.Size(), creating); err != nil {
		return errors.Join(err, l.tail.drop(&l.commits))
	}
	return nil
}

// hold remembers an open segment of which nothing is known yet.
func (t *tail) hold(n uint64, f *os.File) {
	upcoming := [2]string{plainName(n + 1), sealedName(n + 1)}
	*t = tail{n: n, path: f.Name(), file: f, next: t.next, upcoming: upcoming, buf: t.buf}
}

// learn finds the end of the newest segment and the sequence there. The segments up to
// it are listed when they are needed, where they are nil.
func (l *Log) learn(segments []entry, size int64, creating bool) error {
	t := &l.tail
	src, done := lastOf(t.file, size)
	defer done()
	end, err := lastNewline(src, 0, size)
	if err != nil {
		return err
	}
	next, known, err := l.behind(src, end, 2)
	if err != nil {
		return err
	}
	head, err := firstLine(src, min(end, maxHeaderBytes), src.room)
	if err != nil {
		return err
	}
	made, later := glanceAt(head)
	if later {
		return fmt.Errorf("%w: %s: upgrade to write to it", ErrVersion, t.path)
	}
	h, _ := parseHeader(head)
	bare := looksLikeHeader(head) && int64(len(head))+1 == end
	if segments == nil && (!known || h == nil || bare) {
		if segments, err = l.listTo(t.n); err != nil {
			return err
		}
	}
	if !known {
		before, err := l.endOf(segments[:len(segments)-1])
		if err != nil {
			return err
		}
		next += before
	}
	if err := l.heal(end, size); err != nil {
		return err
	}
	t.end, t.next = end, next
	if h != nil {
		t.epoch = h.Epoch
	} else if t.epoch, err = l.epochOf(segments); err != nil {
		return err
	}
	l.commits.enter(t.file, place{t.n, t.end}, made)
	switch {
	case end == 0 && creating:
		return l.complete(segments[:len(segments)-1])
	case bare: // whoever made it may have died before its name was durable
		return l.syncNames(firstNumbered(segments[:len(segments)-1]))
	}
	return nil
}

// listTo returns the segments up to n.
func (l *Log) listTo(n uint64) ([]entry, error) {
	ls, err := l.list()
	if err != nil {
		return nil, err
	}
	i, found := ls.index(n)
	if !found {
		return nil, &CorruptError{Path: l.plainPath(n), Err: errMissing}
	}
	return ls.segments[:i+1], nil
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
