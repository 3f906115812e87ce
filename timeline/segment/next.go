package segment

import (
	"context"
	"io"
)

// Next returns the next committed line, headers included. The error is io.EOF at
// the committed end; Next may be called again later and goes on there, through
// rotation and sealing. A damaged line is returned as a line with Class
// Unreadable. Other errors are [ErrClosed], a [*CorruptError] (the file is shorter
// than what was read from it), the context's, or a wrapped system error; the
// position is kept.
func (r *Reader) Next(ctx context.Context) (Line, error) {
	line, err := r.Lend(ctx)
	if err != nil {
		return Line{}, err
	}
	return *line, nil
}

// Lend is [Reader.Next] without a copy: the line is the reader's own, and is the
// caller's, who may also change its Bytes, until the next call.
func (r *Reader) Lend(ctx context.Context) (*Line, error) {
	if r.dead != nil {
		return nil, r.dead
	}
	for {
		if r.lines++; r.lines%64 == 1 {
			if err := ctx.Err(); err != nil {
				r.lines--
				return nil, err
			}
		}
		if r.readHeld(&r.line) {
			if r.line.Seq >= r.from {
				return &r.line, nil
			}
			continue
		}
		err := r.read(&r.line)
		if err == io.EOF {
			line, more, err := r.advance()
			if err == nil && !more {
				r.lines, err = 0, io.EOF
			}
			if err != nil {
				return nil, err
			}
			if r.line = line; line.Err != nil {
				return &r.line, nil
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		if r.line.Seq >= r.from {
			return &r.line, nil
		}
	}
}

// readHeld is read for a line that fits its checksum and bears the number that is
// expected, as nearly all do.
func (r *Reader) readHeld(line *Line) bool {
	s := &r.scan
	if s.taken == len(s.run.cuts) && !s.hold() {
		return false
	}
	c := &s.run.cuts[s.taken]
	if c.seq > r.next || r.epoch == (Epoch{}) {
		return false
	}
	raw := s.buf[s.pos : c.end-1]
	class := r.log.classifyIntact(raw)
	if class == Unreadable {
		return false
	}
	line.Bytes, line.Class, line.Seq, line.Segment, line.Offset = raw, class, r.next, r.src.n, s.off
	line.Header, line.Intact, line.Err, line.stem = false, true, nil, c.body-s.pos
	r.next += width(line)
	s.taken++
	s.off += int64(c.end - s.pos)
	s.pos = c.end
	return true
}

// read reads the next line of the open segment.
func (r *Reader) read(line *Line) error {
	if r.src == nil {
		return io.EOF
	}
	raw, off, err := r.scan.next()
	if err == nil {
		if r.epoch == (Epoch{}) { // the log was empty until now
			r.epoch = epochAt(raw)
		}
		r.log.fill(line, r.src, raw, off, r.scan.ending)
		after, doubt := number(line, r.scan.ending, r.next)
		if doubt {
			bound, known := r.later()
			after = settle(line, r.next, bound, known)
		}
		r.next = after
		return nil
	}
	if lost := lostRange(err); lost != nil {
		*line = lostLine(r.src.path, r.src.n, r.next, lost)
		return nil
	}
	return atPath(err, r.src.path)
}

// later returns the sequence at the nearest line behind that bears one, in this
// segment or at the start of the next.
func (r *Reader) later() (uint64, bool) {
	if seq, known := r.log.laterIn(r.src, r.scan.off, r.scan.end); known {
		return seq, true
	}
	h, err := r.log.headerOf(r.src.n + 1)
	if err != nil || h == nil {
		return 0, false
	}
	return h.First, true
}
