package segment

import "io"

// scan reads the committed bytes off..end of a source, gives each line its
// sequence starting from next, and returns the sequence behind the last. It
// stops early when visit returns false.
func (l *Log) scan(src *source, off, end int64, next uint64, visit func(*Line) (more bool)) (uint64, error) {
	return l.scanFrom(src, src, off, end, next, visit)
}

// scanFrom is scan with the bytes read through r.
func (l *Log) scanFrom(r io.ReaderAt, src *source, off, end int64, next uint64, visit func(*Line) (more bool)) (uint64, error) {
	s := scanner{single: true}
	s.reset(r, off, end)
	var line Line
	for {
		raw, at, err := s.next()
		switch lost := lostRange(err); {
		case err == nil:
			l.fill(&line, src, raw, at, s.ending)
			after, doubt := number(&line, s.ending, next)
			if doubt {
				bound, known := l.laterIn(src, s.off, end)
				after = settle(&line, next, bound, known)
			}
			next = after
		case lost != nil:
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
