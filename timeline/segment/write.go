package segment

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/lock/step"
)

// Written says where the lines of one Write are.
type Written struct {
	First uint64 // the public sequence before the first line
	Next  uint64 // the public sequence after the last line
	Epoch Epoch  // of the log; zero only if nothing was written to an empty one

	start int64 // in the segment
	end   place
}

// A place is a position in the order of all bytes that were ever written.
type place struct {
	segment uint64
	offset  int64
}

func (p place) after(q place) bool {
	return p.segment > q.segment || (p.segment == q.segment && p.offset > q.offset)
}

// Write appends the lines in one write and returns without waiting for stable
// storage; see [Log.Sync]. Each line is one JSON object without newline; the
// engine adds the seq field. The caller holds the record lock of the session.
//
// Before it appends, Write removes what a dead writer left behind the last
// newline, and opens the next segment when the current one is full.
//
// A nil error means that the lines are in the file, whole, in order, and seen by
// every reader. After an error none of them is: [lock.ErrNotHeld], [ErrLine],
// [*TooLargeError], [ErrFaulted], [ErrFull], [ErrClosed], [ErrVersion] or a
// wrapped system error. If the process dies inside, the first of the lines may be
// there whole and one may be torn; the torn one is never seen.
func (l *Log) Write(held *lock.Record, lines ...[]byte) (Written, error) {
	if err := held.Covers(l.lockDir); err != nil {
		return Written{}, err
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	if err := l.check(lines); err != nil {
		return Written{}, err
	}
	if err := l.commits.fault(); err != nil {
		return Written{}, err
	}
	if err := l.settle(held, len(lines) > 0); err != nil {
		return Written{}, err
	}
	t := &l.tail
	w := Written{First: t.next}
	if w.Next = l.encode(lines); len(t.buf) == 0 {
		w.end, w.Epoch = place{t.n, t.end}, t.epoch
		return w, nil
	}
	if err := l.makeRoom(int64(len(t.buf))); err != nil {
		return Written{}, err
	}
	if t.next != w.First {
		w.First = t.next
		w.Next = l.encode(lines)
	}
	if err := l.append(t.buf); err != nil {
		return Written{}, err
	}
	t.next = w.Next
	l.recent.wrote(l, t.buf)
	w.start, w.end, w.Epoch = t.end-int64(len(t.buf)), place{t.n, t.end}, t.epoch
	l.commits.wrote(w.end)
	step.At("segment: appended")
	return w, nil
}

// check refuses lines before anything is written.
func (l *Log) check(lines [][]byte) error {
	l.classes = l.classes[:0]
	for _, line := range lines {
		if size := int64(len(line) + endBytes); l.o.MaxLineBytes > 0 && size > l.o.MaxLineBytes {
			return &TooLargeError{Bytes: size, Limit: l.o.MaxLineBytes}
		}
		if err := checkLine(line); err != nil {
			return fmt.Errorf("%w: %w", ErrLine, err)
		}
		class := l.classifyNew(line)
		if class == Unreadable {
			return fmt.Errorf("%w: %w", ErrLine, reason(line))
		}
		l.classes = append(l.classes, class)
	}
	return nil
}

// encode fills the buffer with the lines and returns the sequence behind them.
func (l *Log) encode(lines [][]byte) (next uint64) {
	t := &l.tail
	t.buf, next = slices.Grow(t.buf[:0], room(lines)), t.next
	for i, line := range lines {
		t.buf = appendLine(t.buf, line, next)
		if l.classes[i] == Public {
			next++
		}
	}
	return next
}

// room is how many bytes the lines have at most once they are encoded.
func room(lines [][]byte) (n int) {
	for _, line := range lines {
		n += len(line) + endBytes
	}
	return n
}

// append writes at the end of the segment, or leaves the segment as it was.
func (l *Log) append(p []byte) error {
	t := &l.tail
	err := l.writeWhole(t.file, p)
	if err == nil {
		t.end += int64(len(p))
		return nil
	}
	if undo := l.disk.truncate(t.file, t.end); undo != nil {
		// The next writer removes what is left behind the last newline.
		err = errors.Join(err, undo)
	}
	return fmt.Errorf("segment: append to %s: %w", t.path, err)
}

// writeWhole writes all of p in one call or returns an error.
func (l *Log) writeWhole(f *os.File, p []byte) error {
	n, err := l.disk.write(f, p)
	if n < len(p) && err == nil {
		err = io.ErrShortWrite
	}
	return full(err)
}

// NextSeq returns the public sequence that the next public line will get. The
// caller holds the record lock of the session.
func (l *Log) NextSeq(held *lock.Record) (uint64, error) {
	if err := held.Covers(l.lockDir); err != nil {
		return 0, err
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	if err := l.settle(held, false); err != nil {
		return 0, err
	}
	return l.tail.next, nil
}
