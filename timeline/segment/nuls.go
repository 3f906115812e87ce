package segment

import (
	"bytes"
	"errors"
)

// longNULs is how many NULs in a row are more than a damaged part of a line. A hole in
// a file can be larger than memory, so that a range from the start of its line to the
// end of the run counts as lost, and what is behind it as the next line.
const longNULs = 1 << 20

var errNULs = errors.New("a long run of NUL bytes")

// endOfNULs returns where the last long run of NULs in p ends, and zero if there is
// none. A run may go on behind p.
func endOfNULs(p []byte) int {
	for i := len(p) - 1 - (len(p)-1)%longNULs; i >= 0 && len(p) >= longNULs; i -= longNULs {
		if p[i] != 0 {
			continue // each long run covers one of these places
		}
		end := i + leadingNULs(p[i:])
		if start := len(bytes.TrimRight(p[:end], "\x00")); end-start >= longNULs {
			return end
		}
	}
	return 0
}

// firstNULs is endOfNULs for the first long run of the line in p, which ends i bytes
// behind seen, or with p if i is negative. The first seen bytes hold no long run.
func firstNULs(p []byte, seen, i int) int {
	if i >= 0 {
		p = p[:seen+i]
	}
	from := max(0, seen-longNULs)
	for at := from; at < len(p) && len(p)-from >= longNULs; at += longNULs {
		if p[at] != 0 {
			continue
		}
		end := at + leadingNULs(p[at:])
		if start := len(bytes.TrimRight(p[:end], "\x00")); end-start >= longNULs {
			return end
		}
	}
	return 0
}

func leadingNULs(p []byte) int {
	for i, c := range p {
		if c != 0 {
			return i
		}
	}
	return len(p)
}

// passNULs goes behind a long run of NULs whose first bytes are in the buffer, up to
// the given number of bytes behind off. None of the rest is kept.
func (s *scanner) passNULs(known int) error {
	lost := &CorruptError{Offset: s.off, Err: errNULs}
	s.drop(known)
	for s.pos == len(s.buf) && s.off < s.end && s.lost == nil {
		if err := s.fill(); err != nil {
			return err
		}
		s.drop(leadingNULs(s.buf[s.pos:]))
	}
	if s.pos < len(s.buf) && s.buf[s.pos] == '\n' {
		s.drop(1)
	}
	lost.Bytes = s.off - lost.Offset
	return lost
}

func (s *scanner) drop(n int) {
	s.pos += n
	s.off += int64(n)
}

// passNULs goes before a long run of NULs at the end of the buffer, and to the start
// of what the run belongs to: its line, or what is behind an earlier run.
func (s *backScanner) passNULs() error {
	lost := &CorruptError{Err: errNULs}
	end := s.off
	s.drop(len(bytes.TrimSuffix(s.buf[s.pos:], []byte{'\n'})))
	for {
		if s.drop(len(bytes.TrimRight(s.buf[s.pos:], "\x00"))); s.pos < len(s.buf) || s.off <= s.floor {
			break
		}
		if err := s.fill(s.off); err != nil {
			return err
		}
	}
	for seen := 0; ; {
		have := s.buf[s.pos:]
		start := max(lineBreakBefore(have[:len(have)-seen])+1, endOfNULs(have))
		top := s.off - int64(len(have))
		if start > 0 || top <= s.floor {
			s.drop(start)
			lost.Offset, lost.Bytes = s.off, end-s.off
			return lost
		}
		seen = len(have)
		if err := s.fill(top); err != nil {
			return err
		}
	}
}

// drop keeps only so many bytes of the buffer.
func (s *backScanner) drop(kept int) {
	s.off -= int64(len(s.buf) - s.pos - kept)
	s.buf = s.buf[:s.pos+kept]
}
