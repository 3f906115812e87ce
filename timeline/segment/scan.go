package segment

import (
	"errors"
	"io"
)

// scan reads the committed bytes off..end of a source, gives each line its
// sequence starting from next, and returns the sequence behind the last. It
// stops early when visit returns false.
func (l *Log) scan(src *source, off, end int64, next uint64, visit func(*Line) (more bool)) (uint64, error) {
	return l.scanFrom(src, src, off, end, next, visit)
}

// scanFrom is scan with the bytes read through r.
func (l *Log) scanFrom(r io.ReaderAt, src *source, off, end int64, next uint64, visit func(*Line) (more bool)) (uint64, error) {
	var s scanner
	s.reset(r, off, end)
	for {
		raw, at, err := s.next()
		var lost *CorruptError
		var line Line
		switch {
		case err == nil:
			line = l.line(src.path, src.n, raw, at)
			next = number(&line, next, func() (uint64, bool) { return l.laterIn(src, s.off, end) })
		case errors.As(err, &lost) && lost.Bytes > 0:
			line = lostLine(src.path, src.n, next, lost)
		case err == io.EOF:
			return next, nil
		default:
			return next, err
		}
		if visit != nil && !visit(&line) {
			return next, nil
		}
	}
}
