package segment

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
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
	// asked for. It is empty where a whole range of bytes is lost.
	Bytes []byte

	Class Class

	// Seq is the line's own sequence if it is public, otherwise the sequence of the
	// next public line. Sequences start at zero.
	Seq uint64

	Segment uint64 // number of the segment; zero is the legacy first segment
	Offset  int64  // where the line starts, in the uncompressed segment
	Header  bool   // the line is the segment's header, which the engine wrote

	// Err says why a line is Unreadable, and is nil for every other line. It is a
	// [*CorruptError].
	Err error
}

const seqField = `"seq":`

// appendSeq appends the line with its sequence and newline.
func appendSeq(dst, line []byte, seq uint64) []byte {
	body := bytes.TrimRight(line[:len(line)-1], " \t\r")
	dst = append(dst, body...)
	if len(body) > 1 {
		dst = append(dst, ',')
	}
	dst = append(dst, seqField...)
	dst = strconv.AppendUint(dst, seq, 10)
	return append(dst, '}', '\n')
}

// seqOf returns the sequence at the end of a line. Only the last field of the
// line's own object can end in the bytes that are looked for.
func seqOf(line []byte) (seq uint64, ok bool) {
	end := len(line) - 1
	if end < len(seqField)+2 || line[end] != '}' {
		return 0, false
	}
	i, scale := end, uint64(1)
	for i > 0 && end-i < 18 && line[i-1]-'0' <= 9 {
		i--
		seq += uint64(line[i]-'0') * scale
		scale *= 10
	}
	if i == end || (line[i] == '0' && end-i > 1) || !bytes.HasSuffix(line[:i], []byte(seqField)) {
		return 0, false
	}
	before := i - len(seqField) - 1
	return seq, before >= 0 && (line[before] == ',' || (line[before] == '{' && before == 0))
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
	return errors.New("not a line of this log")
}
