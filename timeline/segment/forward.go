package segment

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// How much is read at once: at first little, since many want one line only.
const (
	firstChunkBytes = 16 << 10
	chunkBytes      = 128 << 10
)

// A scanner cuts the committed bytes off..end of a source into lines. Its memory
// is one chunk, or one line if that is longer; long runs of NULs are not kept.
type scanner struct {
	src   io.ReaderAt
	off   int64 // where the next line starts
	end   int64 // where the committed bytes end
	chunk int   // how much to read at once
	buf   []byte
	pos   int // buf[pos:] are the bytes from off on
	lost  *CorruptError

	single bool   // take each line by itself
	run    run    // the lines that are known to fit their checksums
	taken  int    // how many of them were given out; the next one is at pos
	alone  int64  // lines that start before it are taken by themselves
	ending ending // of the last line
}

func (s *scanner) reset(src io.ReaderAt, off, end int64) {
	*s = scanner{src: src, off: off, end: end, chunk: max(s.chunk, firstChunkBytes), buf: s.buf[:0], single: s.single, run: run{cuts: s.run.cuts[:0]}}
}

// next returns the next line without its newline, and where it starts. At the end
// of the committed bytes the error is io.EOF. A range that cannot be read is a
// [*CorruptError]; the line after it comes next.
func (s *scanner) next() (line []byte, off int64, err error) {
	if s.taken < len(s.run.cuts) || s.hold() {
		c := &s.run.cuts[s.taken]
		s.taken++
		s.ending = ending{c.seq, true, rightSum, c.body - s.pos}
		line, off = s.buf[s.pos:c.end-1], s.off
		s.off += int64(c.end - s.pos)
		s.pos = c.end
		return line, off, nil
	}
	line, off, err = s.nextSingle()
	if err == nil {
		s.ending = endingOf(line)
	}
	return line, off, err
}

// hold makes a run of the next lines in the buffer. The first line of a segment, which
// mostly is a header, is in none.
func (s *scanner) hold() bool {
	if s.single || s.off == 0 || s.off < s.alone || s.pos == len(s.buf) {
		return false
	}
	tried := s.run.ahead(s.buf, s.pos)
	if s.taken = 0; len(s.run.cuts) == 0 {
		s.alone = s.off + int64(tried-s.pos)
		return false
	}
	return true
}

// nextSingle returns the next line, whose end nobody has looked at.
func (s *scanner) nextSingle() (line []byte, off int64, err error) {
	seen := 0
	for {
		rest := s.buf[s.pos:]
		i := bytes.IndexByte(rest[seen:], '\n')
		if known := firstNULs(rest, seen, i); known > 0 {
			off = s.off
			return nil, off, s.passNULs(known)
		}
		if i >= 0 {
			i += seen
			off = s.off
			s.pos += i + 1
			s.off += int64(i) + 1
			return rest[:i], off, nil
		}
		if s.lost != nil {
			return nil, s.off, s.skip()
		}
		seen = len(rest)
		if s.off+int64(seen) >= s.end {
			return s.cut(rest)
		}
		if err := s.fill(); err != nil {
			return nil, s.off, err
		}
	}
}

// cut ends the scan. Bytes without a newline are left only behind a lost range
// that did not end at one.
func (s *scanner) cut(rest []byte) ([]byte, int64, error) {
	off := s.off
	if len(rest) == 0 {
		return nil, off, io.EOF
	}
	s.pos, s.off = len(s.buf), s.end
	return rest, off, nil
}

// skip goes on behind a range that cannot be read.
func (s *scanner) skip() error {
	lost := *s.lost
	end := lost.Offset + lost.Bytes
	lost.Offset, lost.Bytes = s.off, end-s.off
	s.lost, s.off, s.buf, s.pos = nil, min(end, s.end), s.buf[:0], 0
	return &lost
}

// fill reads more bytes behind those in the buffer.
func (s *scanner) fill() error {
	kept := copy(s.buf[:cap(s.buf)], s.buf[s.pos:])
	s.pos = 0
	at := s.off + int64(kept)
	want := min(int64(max(s.chunk-kept, kept, 1)), s.end-at)
	if room := kept + int(want); room > cap(s.buf) {
		s.buf = append(make([]byte, 0, max(room, min(s.chunk, int(s.end-s.off)))), s.buf[:kept]...)
	}
	s.chunk = min(2*s.chunk, chunkBytes)
	s.buf = s.buf[:kept+int(want)]
	n, err := s.src.ReadAt(s.buf[kept:], at)
	s.buf = s.buf[:kept+n]
	var lost *CorruptError
	switch {
	case errors.As(err, &lost):
		s.lost = lost
	case n == 0 && err == io.EOF:
		return &CorruptError{Offset: at, Err: fmt.Errorf("the file ends %d bytes early", s.end-at)}
	case n == 0 && err != nil:
		return fmt.Errorf("segment: %w", err)
	}
	return nil
}
