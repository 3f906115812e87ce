package segment

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"sync"
)

// A backScanner cuts the bytes 0..off of a source, which end at a newline, into
// lines, last first. Its memory is two blocks, or two times the longest line; long runs
// of NULs are not kept.
type backScanner struct {
	src   io.ReaderAt
	off   int64 // lines that start before off are still to come
	block int   // how much to read at once; doubles up to blockBytes
	buf   []byte
	pos   int // buf[pos:] are the bytes that end at off
	floor int64
	lost  *CorruptError // the range that ends at floor
	lent  *lent         // the buffer at first

	single bool   // take each line by itself
	run    run    // the lines that the buffer ends with and that fit their checksums
	start  int    // where the first of them starts
	alone  int64  // lines that end behind it are taken by themselves
	ending ending // of the last line
}

// mostKept is the size of the largest buffer that is kept for the next scan.
const mostKept = 4 * blockBytes

// A lent is the memory of a scanner.
type lent struct {
	buf  []byte
	cuts []cut
}

// buffers are those that no backScanner uses.
var buffers = sync.Pool{New: func() any { return &lent{buf: make([]byte, 0, 2*blockBytes)} }}

// newBackScanner makes a scanner whose close must be called.
func newBackScanner(src io.ReaderAt, end int64, block int) backScanner {
	l := buffers.Get().(*lent)
	return backScanner{src: src, off: end, block: block, buf: l.buf, lent: l, run: run{cuts: l.cuts}, alone: end}
}

// close gives the buffer away, and with it the last line.
func (s *backScanner) close() {
	if cap(s.buf) <= mostKept {
		s.lent.buf = s.buf[:0]
	}
	s.lent.cuts = s.run.cuts[:0]
	buffers.Put(s.lent)
}

// next returns the line before the last one. Errors are as for scanner.next.
func (s *backScanner) next() (line []byte, off int64, err error) {
	if n := len(s.run.cuts); n > 0 || s.hold() {
		n = len(s.run.cuts) - 1
		c, start := &s.run.cuts[n], s.start
		if n > 0 {
			start = s.run.cuts[n-1].end
		}
		s.run.cuts = s.run.cuts[:n]
		s.ending = ending{c.seq, true, rightSum, c.body - start}
		line = s.buf[start : c.end-1]
		s.off -= int64(c.end - start)
		s.buf = s.buf[:start]
		return line, s.off, nil
	}
	line, off, err = s.nextSingle()
	if err == nil {
		s.ending = endingOf(line)
	}
	return line, off, err
}

// hold makes a run of the lines that the buffer ends with. The first line in the
// buffer, of which the start may not have been read, is in none.
func (s *backScanner) hold() bool {
	if s.single || s.off > s.alone || !endsRun(s.buf[s.pos:]) {
		return false
	}
	s.start = s.run.before(s.buf, s.pos)
	if len(s.run.cuts) == 0 {
		s.alone = s.off - int64(len(s.buf)-s.start)
		return false
	}
	return true
}

// nextSingle is next for a line whose end nobody has looked at.
func (s *backScanner) nextSingle() (line []byte, off int64, err error) {
	seen := 0 // bytes at the end of the buffer that hold no newline to look for
	for {
		have := s.buf[s.pos:]
		if len(have) > 0 {
			body := have[:len(have)-1]
			if have[len(have)-1] != '\n' {
				body = have
			}
			from := max(0, len(body)-seen)
			start := lineBreakBefore(body[:from]) + 1
			switch behind := start + endOfNULs(body[start:]); {
			case behind == start && start > 0, behind > start && behind < len(body):
				return s.take(body, behind, len(have))
			case behind > start:
				return nil, s.off, s.passNULs()
			}
			seen = len(body)
		}
		top := s.off - int64(len(have))
		if top <= s.floor {
			if len(have) > 0 {
				return s.take(bytes.TrimSuffix(have, []byte{'\n'}), 0, len(have))
			}
			return s.pass()
		}
		if err := s.fill(top); err != nil {
			return nil, s.off, err
		}
	}
}

// lineBreakBefore is bytes.LastIndexByte for a newline, eight bytes at a time: most of a
// backward reading would go into it otherwise.
func lineBreakBefore(p []byte) int {
	const lines, lows = 0x0101010101010101 * '\n', 0x7f7f7f7f7f7f7f7f
	for ; len(p) >= 8; p = p[:len(p)-8] {
		other := binary.LittleEndian.Uint64(p[len(p)-8:]) ^ lines // zero bytes are newlines
		if found := ^((other&lows + lows) | other | lows); found != 0 {
			return len(p) - 1 - bits.LeadingZeros64(found)/8
		}
	}
	return bytes.LastIndexByte(p, '\n')
}

// take hands out body[start:] as the next line.
func (s *backScanner) take(body []byte, start, have int) ([]byte, int64, error) {
	s.off -= int64(have - start)
	s.buf = s.buf[:s.pos+start]
	return body[start:], s.off, nil
}

// pass goes on before a range that cannot be read, or ends the scan.
func (s *backScanner) pass() ([]byte, int64, error) {
	if s.lost == nil {
		return nil, 0, io.EOF
	}
	lost := s.lost
	s.lost, s.floor = nil, 0
	s.off = lost.Offset
	s.buf, s.pos = s.buf[:0], 0
	return nil, s.off, lost
}

// fill reads a block that ends at top and puts it before the bytes in the buffer.
func (s *backScanner) fill(top int64) error {
	lo := max(s.floor, top-int64(s.block))
	s.block = min(2*s.block, blockBytes)
	s.makeRoom(int(top - lo))
	n, err := s.src.ReadAt(s.buf[s.pos-int(top-lo):s.pos], lo)
	// What lies behind a lost range in this block is read on its own.
	for lost := (*CorruptError)(nil); errors.As(err, &lost); {
		s.lost, s.floor = lost, min(lost.Offset+lost.Bytes, top)
		if s.floor == top {
			return nil
		}
		lo = s.floor
		n, err = s.src.ReadAt(s.buf[s.pos-int(top-lo):s.pos], lo)
	}
	if int64(n) < top-lo {
		if err == io.EOF {
			return &CorruptError{Offset: lo + int64(n), Err: fmt.Errorf("the file ends %d bytes early", top-lo-int64(n))}
		}
		return fmt.Errorf("segment: %w", err)
	}
	s.pos -= n
	return nil
}

// makeRoom gives the buffer n free bytes before pos.
func (s *backScanner) makeRoom(n int) {
	if s.pos >= n {
		return
	}
	have := len(s.buf) - s.pos
	size := cap(s.buf)
	if size < have+n {
		size = max(have+n, 2*size, int(min(s.off, int64(2*n))))
	}
	next := s.buf[:cap(s.buf)]
	if size > cap(s.buf) {
		next = make([]byte, size)
	}
	copy(next[size-have:], s.buf[s.pos:])
	s.buf, s.pos = next[:size], size-have
}
