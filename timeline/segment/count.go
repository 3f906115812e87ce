package segment

import "io"

// classify says what a line is.
func (l *Log) classify(raw []byte, off int64) Class {
	var line Line
	l.judge(&line, raw, off, endingOf(raw).sum)
	return line.Class
}

// judge says what a line is and whether its bytes are proven. The first line of a
// segment may be its header. The error is what is wrong with the header.
func (l *Log) judge(line *Line, raw []byte, off int64, s sum) error {
	line.Header, line.Intact = false, false
	if off == 0 && looksLikeHeader(raw) {
		_, err := parseHeader(raw)
		line.Class, line.Header = Private, err == nil
		if err != nil {
			line.Class = Unreadable
		}
		return err
	}
	switch s {
	case rightSum:
		line.Class, line.Intact = l.classifyIntact(raw), true
	case noSum:
		line.Class = l.o.Schema.Classify(raw)
	case wrongSum:
		line.Class = Unreadable
	}
	return nil
}

// fill makes the Line of raw bytes, all but its sequence.
func (l *Log) fill(line *Line, src *source, raw []byte, off int64, e ending) {
	err := l.judge(line, raw, off, e.sum)
	line.Bytes, line.Segment, line.Offset, line.Err, line.stem = raw, src.n, off, nil, e.stem
	if line.Class == Unreadable {
		if err == nil {
			err = reason(raw)
		}
		line.Err = &CorruptError{Path: src.path, Offset: off, Bytes: int64(len(raw)) + 1, Err: err}
	}
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

// number gives the next line its sequence, counting forward from next. It is in
// doubt if the line leaves numbers out: then the caller looks for the nearest
// readable line behind that bears a sequence, and tells settle about it.
func number(line *Line, e ending, next uint64) (after uint64, doubt bool) {
	line.Seq = next
	if line.Class == Unreadable {
		return next, false
	}
	if e.numbered && e.seq > next {
		line.Seq, doubt = e.seq, true
	}
	return line.Seq + width(line), doubt
}

// settle decides about a sequence in doubt: it stands unless the line behind is
// known to bear a smaller one.
func settle(line *Line, next, bound uint64, known bool) (after uint64) {
	if known && line.Seq+width(line) > bound {
		line.Seq = next
	}
	return line.Seq + width(line)
}

// numberBack gives a line its sequence, counting backward from after. It is in
// doubt if the line leaves numbers out: then the caller looks for the nearest
// readable line before that bears a sequence, and tells settleBack about it.
func numberBack(line *Line, e ending, after uint64) (before uint64, doubt bool) {
	w := width(line)
	line.Seq = after - min(w, after)
	if line.Class == Unreadable {
		return after, false
	}
	if e.numbered && e.seq+w < after {
		line.Seq, doubt = e.seq, true
	}
	return line.Seq, doubt
}

// settleBack is settle in the other direction: bound is the sequence behind the
// line before.
func settleBack(line *Line, after, bound uint64, known bool) (before uint64) {
	if known && bound > line.Seq {
		line.Seq = after - min(width(line), after)
	}
	return line.Seq
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
	s := scanner{single: true}
	s.reset(src, off, end)
	for {
		raw, at, err := s.next()
		if lostRange(err) != nil {
			continue
		}
		if err != nil {
			return 0, false
		}
		if own, ok := seqOf(raw); ok {
			if l.classify(raw, at) != Unreadable {
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
func (l *Log) behind(src io.ReaderAt, end int64, looks int) (after uint64, known bool, err error) {
	s := newBackScanner(src, end, 4<<10)
	s.single = true
	defer s.close()
	counted := uint64(0)
	for {
		raw, off, err := s.next()
		if lostRange(err) != nil {
			continue
		}
		if err == io.EOF {
			return max(after, counted), known, nil
		}
		if err != nil {
			return 0, false, err
		}
		class := l.classify(raw, off)
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
