package segment

import (
	"errors"
	"io"
)

// classify says what a line is. The first line of a segment may be its header.
func (l *Log) classify(line []byte, off int64) (class Class, isHeader bool, err error) {
	if off == 0 && looksLikeHeader(line) {
		if _, err := parseHeader(line); err != nil {
			return Unreadable, true, err
		}
		return Private, true, nil
	}
	return l.o.Schema.Classify(line), false, nil
}

// line makes the Line of raw bytes, all but its sequence.
func (l *Log) line(path string, n uint64, raw []byte, off int64) Line {
	class, isHeader, err := l.classify(raw, off)
	line := Line{Bytes: raw, Class: class, Segment: n, Offset: off, Header: isHeader && err == nil}
	if class == Unreadable {
		if err == nil {
			err = reason(raw)
		}
		line.Err = &CorruptError{Path: path, Offset: off, Bytes: int64(len(raw)) + 1, Err: err}
	}
	return line
}

// lostLine makes the Line that stands for a range that cannot be read.
func lostLine(path string, n uint64, seq uint64, lost *CorruptError) Line {
	err := *lost
	err.Path = path
	return Line{Class: Unreadable, Seq: seq, Segment: n, Offset: err.Offset, Err: &err}
}

// A line's own sequence is believed while the lines around it bear it out: it may
// leave numbers out, since lines may have been lost, and it never goes back. A
// damaged digit therefore moves no number but its own.

// number gives the next line its sequence, counting forward from next. later
// finds the sequence after the nearest readable line behind that has one.
func number(line *Line, next uint64, later func() (uint64, bool)) (after uint64) {
	if line.Class == Unreadable {
		line.Seq = next
		return next
	}
	own, ok := seqOf(line.Bytes)
	if ok && own > next {
		if bound, known := later(); !known || own+width(line) <= bound {
			next = own
		}
	}
	line.Seq = next
	return next + width(line)
}

// numberBack gives a line its sequence, counting backward from after. earlier
// finds the sequence after the nearest readable line before that has one.
func numberBack(line *Line, after uint64, earlier func() (uint64, bool)) (before uint64) {
	if line.Class == Unreadable {
		line.Seq = after
		return after
	}
	w := width(line)
	seq := after - min(w, after)
	if own, ok := seqOf(line.Bytes); ok && own+w < after {
		if bound, known := earlier(); !known || bound <= own {
			seq = own
		}
	}
	line.Seq = seq
	return seq
}

func width(line *Line) uint64 {
	if line.Class == Public {
		return 1
	}
	return 0
}

// laterIn looks in the committed bytes off..end of a source for a readable line
// with a sequence of its own, and returns the sequence at it.
func (l *Log) laterIn(src *source, off, end int64) (uint64, bool) {
	var s scanner
	s.reset(src, off, end)
	for {
		raw, at, err := s.next()
		var lost *CorruptError
		if errors.As(err, &lost) && lost.Bytes > 0 {
			continue
		}
		if err != nil {
			return 0, false
		}
		if own, ok := seqOf(raw); ok {
			if class, _, _ := l.classify(raw, at); class != Unreadable {
				return own, true
			}
		}
	}
}

// earlierIn is laterIn in the other direction: the sequence after the nearest line
// before off.
func (l *Log) earlierIn(src *source, off int64) (uint64, bool) {
	after, known, err := l.behind(src, off, 1)
	return after, known && err == nil
}

// behind returns the public sequence behind the committed bytes 0..end of a
// source, from its last lines. Without any line that has a sequence of its own,
// known is false and the result is the number of public lines in the source.
//
// It looks at two such lines, unless told fewer, so that one damaged number cannot
// make the log go back.
func (l *Log) behind(src *source, end int64, looks int) (after uint64, known bool, err error) {
	s := newBackScanner(src, end, 4<<10)
	counted := uint64(0)
	for {
		raw, off, err := s.next()
		var lost *CorruptError
		if errors.As(err, &lost) && lost.Bytes > 0 {
			continue
		}
		if err == io.EOF {
			return max(after, counted), known, nil
		}
		if err != nil {
			return 0, false, err
		}
		class, _, _ := l.classify(raw, off)
		if class == Unreadable {
			continue
		}
		if class == Public {
			counted++
		}
		if own, ok := seqOf(raw); ok {
			after, known = max(after, own+counted), true
			if looks--; looks == 0 {
				return after, true, nil
			}
		}
	}
}
