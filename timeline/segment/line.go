package segment

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"
)

// A Class says who may see a line.
type Class int

const (
	// Public lines are counted: they make the sequence.
	Public Class = iota
	// Private lines are kept and never counted.
	Private
	// Unreadable lines are damaged. They carry no number and are never counted.
	Unreadable
)

func (c Class) String() string {
	switch c {
	case Public:
		return "public"
	case Private:
		return "private"
	}
	return "unreadable"
}

// A Line is one committed line of a log.
type Line struct {
	// Bytes is the line without its newline. It is valid until the next line is
	// asked for, and as long as the iteration that yielded it. It is empty where a
	// whole range of bytes is lost.
	Bytes []byte

	Class Class

	// Seq is the line's own sequence if it is public, otherwise the sequence of the
	// next public line. Sequences start at zero.
	Seq uint64

	Segment uint64 // number of the segment; zero is the legacy first segment
	Offset  int64  // where the line starts, in the uncompressed segment
	Header  bool   // the line is the segment's header, which the engine wrote
	Intact  bool   // the line fits its checksum: it is as Write was given it

	// Err says why a line is Unreadable, and is nil for every other line. It is a
	// [*CorruptError].
	Err error

	stem int // where the checksum of an intact line starts, zero if that is not known
}

// Stem returns an intact line without what Write added to it and without its closing
// brace. Of a line that bears no checksum it is the whole line.
func (l *Line) Stem() []byte {
	if l.Intact && l.stem > 0 {
		return l.Bytes[:l.stem]
	}
	_, at, ok := seqAt(l.Bytes)
	if from := at - crcBytes; ok && l.Intact && from > 0 {
		return l.Bytes[:from]
	}
	return l.Bytes
}

// checkLine refuses what would not be one readable line of its own.
func checkLine(line []byte) error {
	switch {
	case len(line) < 2 || line[0] != '{' || line[len(line)-1] != '}':
		return errors.New("does not start and end with a brace")
	case bytes.IndexByte(line, '\n') >= 0:
		return errors.New("holds a line break")
	case bytes.IndexByte(line, 0) >= 0:
		return errors.New("holds a NUL byte")
	}
	return nil
}

var errForeign = errors.New("not a line of this log")

// reason says in words what is wrong with an unreadable line.
func reason(line []byte) error {
	switch {
	case len(line) == 0:
		return errors.New("empty line")
	case bytes.IndexByte(line, 0) >= 0:
		return errors.New("NUL bytes")
	case !utf8.Valid(line):
		return errors.New("invalid UTF-8")
	}
	var v map[string]json.RawMessage
	if err := json.Unmarshal(line, &v); err != nil {
		return err
	}
	if sumOf(line) == wrongSum {
		return errChecksum
	}
	return errForeign
}
