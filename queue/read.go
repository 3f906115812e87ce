package queue

import "io"

// A listing reads a JSON list of entries in any form, from a place within it.
type listing struct {
	s      *scanner
	at     int64
	wanted bool // a comma stands before: an entry has to follow
	first  bool // the bracket stands before
	count  int
}

// open goes behind the bracket with which the file begins.
func (l *listing) open() error {
	at, err := l.s.span(0, l.s.size, jsonSpace)
	if err != nil {
		return err
	}
	ok, err := l.s.holds(at, []byte("["))
	if err == nil && !ok {
		err = errNoList
	}
	if err == nil {
		l.at, l.first = at+1, true
	}
	return err
}

// next returns the next entry, and false behind the last. An error leaves it where it
// makes no sense any more.
func (l *listing) next() (e element, found bool, err error) {
	c, err := l.char()
	switch {
	case err != nil:
		return e, false, err
	case c == ']' && !l.wanted:
		l.at++
		return e, false, l.end()
	case !l.first && !l.wanted && c != ',':
		return e, false, wrapEntry("no comma", nil)
	}
	at := l.at
	if !l.first && !l.wanted {
		if at, err = l.s.span(at+1, l.s.size, jsonSpace); err != nil {
			return e, false, err
		}
	}
	if e, err = l.s.element(at, l.s.size); err != nil {
		return e, false, err
	}
	l.at, l.first, l.wanted = e.end(), false, false
	l.count++
	return e, true, nil
}

// char goes on to the next character that says something.
func (l *listing) char() (byte, error) {
	at, err := l.s.span(l.at, l.s.size, jsonSpace)
	if err != nil {
		return 0, err
	}
	l.at = at
	part, err := l.s.bytes(at, l.s.size)
	if err == nil && len(part) == 0 {
		return 0, wrapEntry("list without end", io.ErrUnexpectedEOF)
	}
	if err != nil {
		return 0, err
	}
	return part[0], nil
}

// end looks at what stands behind the list.
func (l *listing) end() error {
	at, err := l.s.span(l.at, l.s.size, jsonSpace)
	if err == nil && at < l.s.size {
		err = errTrailing
	}
	return err
}

// check reads the rest, and is nil if that makes a list.
func (l *listing) check() error {
	for {
		if _, found, err := l.next(); err != nil || !found {
			return err
		}
	}
}

// element reads the entry that starts at an offset and is not longer than up to end.
func (s *scanner) element(at, end int64) (element, error) {
	end, err := s.object(at, end)
	if err != nil {
		return element{}, err
	}
	raw, err := s.text(at, end)
	if err != nil {
		return element{}, err
	}
	e, err := decode(raw)
	return element{at, raw, e}, err
}
