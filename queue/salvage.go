package queue

import (
	"bytes"
	"errors"
)

var (
	errTornTail = errors.New("an entry that was being added is incomplete")
	errTornHead = errors.New("an entry that was being removed is incomplete")
	errFragment = errors.New("a part that is no message")
	errNoEnd    = errors.New("the list does not end")
	errBlanked  = errors.New("every entry is overwritten")
)

// salvageLine reads a line of a damaged file of this package. Only what starts at the
// start of a line is taken for an entry: a fragment may hold braces.
func (s *scanner) salvageLine() (e element, found bool, err error) {
	if s.at >= s.size || s.closed {
		s.step = nil
		s.concludeLines()
		return e, false, nil
	}
	end, _, err := s.line(s.at)
	if err != nil {
		return e, false, err
	}
	text, err := s.span(s.at, end, " ")
	if err != nil || text == end { // blank
		s.at = end + 1
		return e, false, err
	}
	rest, err := s.span(end+1, s.size, lineSpace)
	if err != nil {
		return e, false, err
	}
	l := salvagedLine{scanner: s, from: s.at, end: end, final: rest >= s.size}
	if s.closed, err = l.closes(); err == nil && !s.closed {
		e, found, err = l.read()
	}
	s.at = end + 1
	return e, found, err
}

// concludeLines says what the whole file is that was read line by line.
func (s *scanner) concludeLines() {
	if s.count == 0 {
		s.nothing()
		return
	}
	if torn := len(s.faults) > 0 && s.faults[len(s.faults)-1].Kind == TornTail; !s.closed && !torn {
		s.fault(Fault{Kind: TornTail, Offset: s.size, Bare: true, Err: errNoEnd})
	}
	s.someFault()
}

// nothing is what a file without a single whole entry says. No edit leaves that: the
// first entry comes with the file, and the last one goes with it.
func (s *scanner) nothing() {
	for i := range s.faults {
		s.faults[i].Kind, s.faults[i].Bare = Damaged, false
	}
	if len(s.faults) == 0 {
		s.fault(Fault{Kind: Damaged, Offset: min(s.at, s.size), Bare: true, Err: errBlanked})
	}
}

// someFault is for a file that is no list although all of it makes sense.
func (s *scanner) someFault() {
	if len(s.faults) == 0 {
		s.fault(Fault{Kind: Damaged, Offset: s.wrongs, Length: s.size - s.wrongs, Bare: true, Err: s.wrong})
	}
}

func (s *scanner) fault(f Fault) { s.faults = append(s.faults, f) }

// A salvagedLine is a line of a damaged file. The final one is the last that holds
// anything.
type salvagedLine struct {
	*scanner
	from, end int64
	final     bool
}

// closes reports whether it is the closing bracket.
func (l *salvagedLine) closes() (bool, error) {
	ok, err := l.holds(l.from, []byte("]"))
	if !l.final || err != nil || !ok {
		return false, err
	}
	behind, err := l.span(l.from+1, l.end, " ")
	return behind == l.end, err
}

// read takes the line for an entry or for a fault.
func (l *salvagedLine) read() (e element, found bool, err error) {
	rawEnd, cut, err := l.rawEnd()
	if err != nil {
		return e, false, err
	}
	e, whole, err := l.entry(rawEnd)
	switch {
	case isDisk(err):
		return e, false, err
	case errors.Is(err, errChanged) && whole:
		return e, false, l.fault(Damaged, l.from, err)
	case err != nil:
		return e, false, l.fragment()
	}
	if !whole || cut {
		e.raw = bytes.Clone(e.raw) // to look at the rest of the line takes its place
	}
	switch {
	case !whole:
		err = l.fault(Damaged, e.end(), errFragment)
	case cut:
		err = l.fault(TornTail, e.end(), errNoEnd)
	}
	return e, err == nil, err
}

// rawEnd is where the line ends without its comma, and without the bracket that an
// interrupted enqueue leaves behind it.
func (l *salvagedLine) rawEnd() (end int64, cut bool, err error) {
	if cut, err = l.holds(l.end-2, []byte(",]")); err == nil && cut && l.final {
		return l.end - 2, true, nil
	}
	comma, err := l.holds(l.end-1, []byte(","))
	if comma {
		return l.end - 1, false, err
	}
	return l.end, false, err
}

// entry reads the entry with which the line starts, and reports whether that is all of
// it up to end.
func (l *salvagedLine) entry(end int64) (e element, whole bool, err error) {
	close, err := l.object(l.from, l.end)
	if err != nil {
		return e, false, err
	}
	behind := close
	if close <= end {
		if behind, err = l.span(close, end, jsonSpace); err != nil {
			return e, false, err
		}
	}
	if whole = close <= end && behind == end; whole {
		close = end
	}
	raw, err := l.text(l.from, close)
	if err != nil {
		return e, whole, err
	}
	held, err := decode(raw)
	return element{l.from, raw, held}, whole, err
}

// fragment takes the line, which is no entry, for a fault.
func (l *salvagedLine) fragment() error {
	brace, err := l.holds(l.from, []byte("{"))
	if err != nil {
		return err
	}
	torn := false
	if !brace && l.count == 0 && len(l.faults) == 0 {
		torn, err = l.endsEntry()
	}
	switch {
	case err != nil:
		return err
	case torn:
		return l.fault(TornHead, l.from, errTornHead)
	case l.final && brace:
		return l.fault(TornTail, l.from, errTornTail)
	}
	return l.fault(Damaged, l.from, errFragment)
}

// endsEntry reports whether the line starts as one that is being overwritten, and ends as
// one with an entry does.
func (l *salvagedLine) endsEntry() (bool, error) {
	space, err := l.holds(l.from, []byte(" "))
	if err != nil || !space {
		return false, err
	}
	end, err := l.before(l.from, l.end, jsonSpace)
	if err != nil {
		return false, err
	}
	comma, err := l.holds(end-1, []byte(","))
	if err != nil {
		return false, err
	}
	if comma {
		start, err := l.span(l.from, end, jsonSpace)
		if err != nil || start == end-1 {
			return err == nil, err
		}
		end--
	}
	return l.holds(end-1, []byte("}"))
}

// fault notes that the line makes no sense from an offset on.
func (l *salvagedLine) fault(kind FaultKind, from int64, why error) error {
	behind, err := l.span(from, l.end, " ,]")
	if err == nil {
		l.scanner.fault(Fault{Kind: kind, Offset: from, Length: l.end - from, Bare: behind == l.end, Err: why})
	}
	return err
}

// longSync bounds the indentation that salvageValues looks for.
const longSync = 4 << 10

// salvageValues begins to read a damaged file of another writer value by value. Behind a
// part that makes no sense it goes on at the next brace that stands as far to the
// right as that of the first entry.
func (s *scanner) salvageValues() error {
	s.step, s.syncedAt = s.salvageValue, -1
	at, err := s.span(0, s.size, jsonSpace)
	if err != nil {
		return err
	}
	s.at = 0
	if ok, err := s.holds(at, []byte("[")); err != nil {
		return err
	} else if ok {
		s.at = at + 1
	}
	brace, err := s.find(0, s.size, []byte("{"))
	if err != nil || brace <= 0 {
		return err
	}
	before, err := s.text(max(0, brace-longSync), brace+1)
	if line := bytes.LastIndexByte(before, '\n'); line >= 0 {
		s.resync = bytes.Clone(before[line:])
	}
	return err
}

// salvageValue takes the next part of the file for an entry or for a fault.
func (s *scanner) salvageValue() (e element, found bool, err error) {
	if s.at, err = s.span(s.at, s.size, jsonSpace+","); err != nil {
		return e, false, err
	}
	closed, err := s.closesValues()
	if err != nil || closed || s.at >= s.size {
		if err == nil && !closed {
			s.fault(Fault{Kind: Damaged, Offset: s.at, Err: errNoEnd})
		}
		return e, false, s.concludeValues(err)
	}
	end, err := s.sync()
	if err != nil {
		return e, false, err
	}
	e, err = s.element(s.at, end)
	switch {
	case err == nil:
		s.at = e.end()
		return e, true, nil
	case isDisk(err):
		return e, false, err
	}
	s.fault(Fault{Kind: Damaged, Offset: s.at, Length: end - s.at, Err: err})
	if s.at = end; end >= s.size {
		err = s.concludeValues(nil)
	} else {
		err = nil
	}
	return element{}, false, err
}

func (s *scanner) concludeValues(err error) error {
	if err == nil {
		s.step = nil
		s.someFault()
	}
	return err
}

// closesValues reports whether the bracket of the list is next, and nothing behind it.
func (s *scanner) closesValues() (bool, error) {
	ok, err := s.holds(s.at, []byte("]"))
	if err != nil || !ok {
		return false, err
	}
	behind, err := s.span(s.at+1, s.size, jsonSpace)
	return behind == s.size, err
}

// sync is where the next entry could start.
func (s *scanner) sync() (int64, error) {
	if s.resync == nil {
		return s.size, nil
	}
	if s.syncedAt < s.at {
		i, err := s.find(s.at, s.size, s.resync)
		if err != nil {
			return 0, err
		}
		if s.syncedAt = i; i < 0 {
			s.syncedAt = s.size
		}
	}
	return min(s.syncedAt+int64(len(s.resync))-1, s.size), nil
}
