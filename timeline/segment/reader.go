package segment

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// A Reader reads a log forward and can go on when it has grown. It is used by one
// goroutine at a time and takes no lock.
type Reader struct {
	log   *Log
	until *View // ends the reading; nil means that the reader follows the log

	src     *source // nil: not in a segment yet
	last    uint64  // number of the segment that was read last
	started bool    // last is meant, zero too
	scan    scanner
	next    uint64 // sequence of the next public line
	from    uint64 // lines before it are passed over
	epoch   Epoch
	listed  bool // the directory was listed at the end of this segment
	staying bool // see Stay
	peeking bool // see Peek
	grew    bool // there was a line since
	lines   int
	line    Line  // the last one
	dead    error // the log is another one now
}

// Reader returns a reader before the public line with sequence from. The error is
// [ErrFuture] when from lies behind the end of the log, or as for [Log.View].
// [Reader.Next] may yield private lines and damage first.
func (l *Log) Reader(ctx context.Context, from uint64) (*Reader, error) {
	for {
		v, err := l.View(ctx)
		if err != nil {
			return nil, err
		}
		r, err := v.readerAt(from)
		if !errors.Is(err, errMissing) {
			return r, err
		}
	}
}

// Reader is [Log.Reader] for one who has a view that is as good as new: the log is
// looked at again only if it has changed so that the view cannot serve. The reader does
// not end with the view.
func (v *View) Reader(ctx context.Context, from uint64) (*Reader, error) {
	r, err := v.readerAt(from)
	if errors.Is(err, errMissing) || errors.Is(err, ErrFuture) {
		return v.log.Reader(ctx, from)
	}
	return r, err
}

func (v *View) readerAt(from uint64) (*Reader, error) {
	if from > v.end {
		return nil, v.errFuture(from)
	}
	r := &Reader{log: v.log, from: from, epoch: v.epoch}
	if len(v.segments) == 0 {
		return r, nil
	}
	if err := r.seek(v, from); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// enter opens segment n and goes to an offset in it.
func (r *Reader) enter(n uint64, off int64) error {
	src, err := r.log.open(n)
	if err != nil {
		return err
	}
	end, err := r.limit(src, off)
	if err != nil {
		return errors.Join(err, src.Close())
	}
	old := r.src
	r.src, r.last, r.started, r.listed = src, n, true, false
	r.scan.reset(src, off, end)
	return old.Close()
}

// limit returns the committed end, or the view's if that is nearer.
func (r *Reader) limit(src *source, off int64) (int64, error) {
	if r.until != nil && src.n == r.until.Newest() {
		return r.until.committed, nil
	}
	return src.committed(off)
}

// advance looks for more behind the end of what was committed: in this segment, or
// in the next. A line with an error stands for segments that are missing.
func (r *Reader) advance() (line Line, more bool, err error) {
	if r.until != nil {
		return r.advanceInView()
	}
	if !r.started {
		return r.first()
	}
	if more, enough, err := r.near(); enough {
		return Line{}, more, err
	}
	// The next segment is looked for before the last look at this one: once it exists,
	// this one does not grow any more. Mostly the first look is enough.
	if grown, err := r.grownSince(); grown || err != nil {
		return Line{}, grown, err
	}
	n, found, err := r.following()
	if err != nil || !found {
		return Line{}, false, err
	}
	if grown, err := r.grownSince(); grown || err != nil {
		return Line{}, grown, err
	}
	return r.cross(n)
}

// grownSince is grown for a reader that may have no segment open.
func (r *Reader) grownSince() (bool, error) {
	if r.src == nil {
		return false, nil
	}
	return r.grown()
}

// cross goes on to segment n, which is not always the next number.
func (r *Reader) cross(n uint64) (line Line, more bool, err error) {
	expected := r.last + 1
	err = r.enter(n, 0)
	if errors.Is(err, errMissing) {
		return Line{}, false, r.log.present()
	}
	if err != nil {
		return Line{}, false, err
	}
	if err := r.sameLog(); err != nil {
		return Line{}, false, err
	}
	if n > expected {
		return r.log.missingLine(expected, max(r.next, r.from)), true, nil
	}
	return Line{}, true, nil
}

// advanceInView is advance for a reader that ends with its view.
func (r *Reader) advanceInView() (line Line, more bool, err error) {
	ls := listing{segments: r.until.segments}
	i, _ := ls.index(r.last + 1)
	if !r.started || i == len(ls.segments) {
		return Line{}, false, nil
	}
	n := ls.segments[i].n
	line, more, err = r.cross(n)
	if err == nil && !more {
		r.last = n
		return r.log.missingLine(n, r.next), true, nil
	}
	return line, more, err
}

// first enters the first segment of a log that was empty.
func (r *Reader) first() (line Line, more bool, err error) {
	ls, err := r.log.list()
	if err != nil || len(ls.segments) == 0 {
		return Line{}, false, err
	}
	if r.epoch, err = r.log.epochOf(ls.segments); err != nil {
		return Line{}, false, err
	}
	r.started = true
	if ls.segments[0].n == 0 {
		r.last-- // so that the legacy segment is the next
	}
	return r.cross(ls.segments[0].n)
}

// following looks for the segment behind this one. Once for each segment it lists
// the directory, in case the next number is missing.
func (r *Reader) following() (n uint64, found bool, err error) {
	n = r.last + 1
	for _, path := range []string{r.log.plainPath(n), r.log.sealedPath(n)} {
		if found, err = exists(path); found || err != nil {
			return n, found, err
		}
	}
	if r.listed {
		return 0, false, nil
	}
	ls, err := r.log.list()
	if err != nil {
		return 0, false, err
	}
	r.listed = true
	if i, _ := ls.index(n); i < len(ls.segments) {
		return ls.segments[i].n, true, nil
	}
	return 0, false, nil
}

// grown looks whether more was committed to the open segment.
func (r *Reader) grown() (bool, error) {
	info, err := os.Lstat(r.src.path)
	if errors.Is(err, os.ErrNotExist) || (err == nil && !os.SameFile(info, r.src.info)) {
		return r.reopen()
	}
	if err != nil {
		return false, fmt.Errorf("segment: %w", err)
	}
	if r.src.seal == nil && info.Size() == r.scan.end {
		return false, nil
	}
	end, err := r.src.committed(r.scan.end)
	if err != nil || end <= r.scan.end {
		return false, err
	}
	r.scan.end = end
	return true, nil
}

// reopen finds the segment again after its file went: it was sealed, or the log is
// gone, or another log took its place.
func (r *Reader) reopen() (bool, error) {
	off, end := r.scan.off, r.scan.end
	if before, err := r.src.committed(end); err == nil && before > end {
		r.scan.end = before
		return true, nil
	}
	err := r.enter(r.last, off)
	if errors.Is(err, errMissing) {
		return false, r.gone()
	}
	if err != nil {
		return false, err
	}
	if err := r.sameLog(); err != nil {
		return false, err
	}
	return r.scan.end > off, nil
}

// gone tells a closed session from a segment that somebody removed.
func (r *Reader) gone() error {
	ls, err := r.log.list()
	if err != nil {
		return err
	}
	if len(ls.segments) == 0 {
		return fmt.Errorf("%w: no segment is left in %s", ErrClosed, r.log.o.Dir)
	}
	if last := ls.segments[len(ls.segments)-1]; last.n > r.last {
		r.listed = false
		return nil
	}
	return &CorruptError{Path: r.src.path, Offset: r.scan.off, Err: errMissing}
}

// sameLog returns [ErrClosed] if the segment that was just entered belongs to
// another life of the log.
func (r *Reader) sameLog() error {
	h, err := headerIn(r.src)
	if errors.Is(err, errNoHeader) || errors.Is(err, errBadHeader) {
		return nil
	}
	if err != nil {
		return err
	}
	if r.epoch == (Epoch{}) {
		r.epoch = h.Epoch
	}
	if r.epoch != h.Epoch {
		r.dead = fmt.Errorf("%w: %s holds another log now", ErrClosed, r.log.o.Dir)
	}
	return r.dead
}

// Seq returns the sequence of the next public line.
func (r *Reader) Seq() uint64 { return max(r.next, r.from) }

// Epoch returns the epoch of the log that the reader is in. It is zero while the
// log is empty.
func (r *Reader) Epoch() Epoch { return r.epoch }

// Close gives back the reader's descriptor. The reader cannot be used afterwards.
func (r *Reader) Close() error {
	err := r.src.Close()
	r.src = nil
	return err
}
