package queue

import (
	"bytes"
	"cmp"
	"errors"
	"io"
)

// An element is one entry where it stands in the file.
type element struct {
	offset int64
	raw    []byte // valid until the next element is asked for
	entry  Entry
}

func (e element) end() int64 { return e.offset + int64(len(e.raw)) }

// A scanner reads a file of any writer and in any state from its start to its end, one
// entry at a time, and tells entries from faults.
//
// As long as the file is as this package writes it, it goes line by line. At the first
// line that is not, it reads on to see whether the rest still makes a JSON list. If so
// it goes on value by value; otherwise the file is damaged, and what can be read of the
// rest is an entry, all else a fault.
type scanner struct {
	window
	at     int64
	step   func() (element, bool, error) // the way of reading; nil at the end
	count  int                           // entries that were read
	faults []Fault                       // complete only at the end
	own    bool                          // it was, from the start to the end, as this package writes it

	// patient lets what makes no sense be errNotNow, and be read again with the next call.
	patient bool

	wrong  error // why it is no list
	wrongs int64 // where

	closed   bool   // by a bracket
	resync   []byte // newline, indentation, brace; nil if the file has none
	syncedAt int64  // where resync was found last
}

var (
	errNoList   = errors.New("not a JSON list")
	errTrailing = errors.New("more behind the end of the list")
	errNotNow   = errors.New("queue: makes no sense just now")
)

var (
	opening = []byte("[\n")
	closing = []byte("\n]\n")
)

const (
	jsonSpace = " \t\r\n"
	lineSpace = " \n"
)

// scan begins to read a file. It reads so much at once.
func scan(file io.ReaderAt, size int64, room int) *scanner {
	s := &scanner{window: newWindow(file, size, room)}
	s.step = s.begin
	return s
}

// next returns the next entry, and false at the end. An error is of the disk, or
// errNotNow.
func (s *scanner) next() (e element, found bool, err error) {
	for s.step != nil && !found && err == nil {
		e, found, err = s.step()
	}
	if found {
		s.count++
	}
	return e, found, err
}

// begin decides how to read the file.
func (s *scanner) begin() (e element, found bool, err error) {
	byLine, err := s.byLine()
	if err != nil {
		return e, false, err
	}
	if !byLine {
		return e, false, s.beginValues()
	}
	if s.patient {
		end, err := s.before(0, s.size, jsonSpace)
		if err != nil {
			return e, false, err
		}
		if closed, err := s.holds(end-1, []byte("]")); err != nil || !closed {
			return e, false, cmp.Or(err, errNotNow)
		}
	}
	s.at, s.own, s.step = int64(len(opening)), true, s.nextLine
	return e, false, nil
}

// beginValues decides how to read a file that is of another writer.
func (s *scanner) beginValues() error {
	l := listing{s: s}
	err := l.open()
	list := l
	if err == nil {
		err = l.check()
	}
	switch {
	case isDisk(err):
		return err
	case err == nil:
		s.list(list)
		return nil
	case s.patient:
		return errNotNow
	}
	s.wrong, s.wrongs = err, l.at
	return s.salvageValues()
}

// byLine reports whether the file was written one entry a line. A file of another
// writer puts a brace alone, or starts behind the bracket.
func (s *scanner) byLine() (bool, error) {
	ok, err := s.holds(0, opening)
	if err != nil || !ok {
		return false, err
	}
	at, err := s.span(int64(len(opening)), s.size, lineSpace)
	if err == nil {
		at, err = s.span(at, s.size, " \t\r")
	}
	if err != nil {
		return false, err
	}
	if ok, err = s.holds(at, []byte("{")); err != nil || !ok {
		return true, err
	}
	end, _, err := s.line(at)
	if err != nil {
		return false, err
	}
	behind, err := s.span(at+1, end, " \t\r")
	return behind < end, err
}

// nextLine reads a line of a file that is as this package writes it up to there: lines
// of spaces, then at least one entry, one a line.
func (s *scanner) nextLine() (element, bool, error) {
	blank, err := s.skipLines()
	if err != nil {
		return element{}, false, err
	}
	if blank && s.count > 0 {
		s.own = false // it makes no other difference
	}
	e, last, ok, err := s.ownLine()
	switch {
	case err != nil:
		return e, false, err
	case !ok:
		return element{}, false, s.odd()
	case last:
		s.step = nil
	default:
		s.at = e.end() + int64(len(",\n"))
	}
	return e, true, nil
}

// skipLines goes on to the next line that is not blank.
func (s *scanner) skipLines() (skipped bool, err error) {
	for at := s.at; ; {
		part, err := s.bytes(at, s.size)
		if err != nil || len(part) == 0 {
			return skipped, err
		}
		rest := bytes.TrimLeft(part, lineSpace)
		if i := bytes.LastIndexByte(part[:len(part)-len(rest)], '\n'); i >= 0 {
			s.at, skipped = at+int64(i)+1, true
		}
		if len(rest) > 0 {
			return skipped, nil
		}
		at += int64(len(part))
	}
}

// ownLine reads the line at which it is, if this package could have written it there.
func (s *scanner) ownLine() (e element, last, ok bool, err error) {
	if brace, err := s.holds(s.at, []byte("{")); err != nil || !brace {
		return e, false, false, err
	}
	end, nul, err := s.line(s.at)
	if err != nil || nul {
		return e, false, false, err
	}
	line, err := s.text(s.at, end)
	if err != nil {
		return e, false, false, unlessLong(err)
	}
	raw, comma := bytes.CutSuffix(line, []byte(","))
	e = element{offset: s.at, raw: raw}
	if e.entry, err = decode(raw); err != nil {
		return e, false, false, nil
	}
	if comma {
		return e, false, end < s.size, nil
	}
	if end+int64(len(closing)) != s.size {
		return e, false, false, nil
	}
	// The line stays where it is: the end of the file is looked at beside it.
	var tail [len("\n]\n")]byte
	_, err = s.file.ReadAt(tail[:], end)
	return e, true, bytes.Equal(tail[:], closing), notCut(err)
}

func unlessLong(err error) error {
	if errors.Is(err, errLong) {
		return nil
	}
	return err
}

// odd decides how to go on at a line that this package would not have written.
func (s *scanner) odd() error {
	l := listing{s: s, at: s.at, wanted: s.count > 0, first: s.count == 0}
	err := l.check()
	if isDisk(err) {
		return err
	}
	if err == nil && s.count == 0 && l.count == 0 {
		err = s.blanked()
	}
	switch {
	case isDisk(err):
		return err
	case err == nil:
		s.list(listing{s: s, at: s.at, wanted: s.count > 0, first: s.count == 0})
	case s.patient:
		s.drop()
		return errNotNow
	default:
		s.own, s.wrong, s.wrongs = false, err, l.at
		s.step = s.salvageLine
	}
	return nil
}

// list goes on value by value. The list was whole when it was looked at: what makes no
// sense by now was changed since.
func (s *scanner) list(l listing) {
	s.own = false
	s.step = func() (element, bool, error) {
		before := l
		e, found, err := l.next()
		switch {
		case err == nil && found:
			return e, true, nil
		case err != nil && !isDisk(err) && !s.patient:
			s.fault(Fault{Kind: Damaged, Offset: l.at, Length: max(0, s.size-l.at), Err: err})
			err = nil
		case err != nil && !isDisk(err):
			err = errNotNow
		}
		if l = before; err == nil {
			s.step = nil
		}
		return element{}, false, err
	}
}

// blanked is nil unless a list without an entry has spaces where this package overwrites
// entries. The last entry goes with the file, so that such a list is not an empty one:
// what it held is gone.
func (s *scanner) blanked() error {
	space, err := s.holds(int64(len(opening)), []byte(" "))
	if err == nil && space {
		err = errBlanked
	}
	return err
}

// certain reports that the faults leave no message in doubt and that an edit of
// this package left them, so that the edit can be finished.
func (s *scanner) certain() bool {
	for _, f := range s.faults {
		if !f.Bare || f.Kind == Damaged {
			return false
		}
	}
	return true
}
