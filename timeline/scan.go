package timeline

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// maxDepth bounds the nesting of a line.
const maxDepth = 10000

var errNotObject = errors.New("not a JSON object")

// A value is where one JSON value stands in a line; its first byte says of which
// type it is. The zero value stands for an absent field.
type value struct {
	from, to int
	plain    bool // a string without escapes
}

func (v value) absent() bool { return v.to == 0 }

func (v value) bytes(line []byte) []byte { return line[v.from:v.to] }

// null reports whether v is absent or the literal null.
func (v value) null(line []byte) bool { return v.absent() || line[v.from] == 'n' }

// A scanner walks the members of one JSON object and checks everything it passes
// by the grammar of RFC 8259. It copies nothing. Strings may hold bytes that are
// not UTF-8, which other programs write; [text] replaces them.
type scanner struct {
	line []byte
	at   int
	more bool  // at is at the name of the next member
	err  error // why the line is not one whole object
}

// scan stands before the first member of the object that line must be.
func scan(line []byte) scanner {
	s := scanner{line: line}
	s.space()
	if s.peek() != '{' {
		s.err = errNotObject
		return s
	}
	s.at++
	s.space()
	if s.more = s.peek() != '}'; !s.more {
		s.finish()
	}
	return s
}

// next returns the name and the value of the next member. It returns false behind
// the last one, and at an error, which is then in s.err.
func (s *scanner) next() (name, val value, ok bool) {
	if !s.more || s.err != nil {
		return name, val, false
	}
	name = s.name()
	val = s.value(1)
	s.space()
	switch s.peek() {
	case ',':
		s.at++
		s.space()
	case '}':
		s.finish()
	default:
		s.fail("',' or '}'")
	}
	return name, val, s.err == nil
}

// finish passes the closing brace, behind which nothing may stand.
func (s *scanner) finish() {
	s.at++
	s.more = false
	if s.space(); s.at < len(s.line) {
		s.fail("the end of the line")
	}
}

func (s *scanner) fail(want string) {
	if s.err != nil {
		return
	}
	if s.at >= len(s.line) {
		s.err = fmt.Errorf("ends at byte %d, where %s should stand", s.at, want)
		return
	}
	s.err = fmt.Errorf("%q at byte %d, where %s should stand", s.line[s.at], s.at, want)
}

// peek returns the byte that stands next, and 0 at the end.
func (s *scanner) peek() byte {
	if s.at < len(s.line) {
		return s.line[s.at]
	}
	return 0
}

func (s *scanner) space() {
	for s.at < len(s.line) {
		switch s.line[s.at] {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return
		}
	}
}

// name passes a member's name, the colon and the space around it.
func (s *scanner) name() value {
	if s.peek() != '"' {
		s.fail("a field name")
		return value{}
	}
	v := s.value(1)
	if s.space(); s.peek() != ':' {
		s.fail("':'")
		return value{}
	}
	s.at++
	s.space()
	return v
}

// value passes one value of any type.
func (s *scanner) value(depth int) value {
	v := value{from: s.at}
	switch c := s.peek(); c {
	case '"':
		v.plain = s.string()
	case '{':
		s.container(depth, '}')
	case '[':
		s.container(depth, ']')
	case 't':
		s.literal("true")
	case 'f':
		s.literal("false")
	case 'n':
		s.literal("null")
	default:
		s.number()
	}
	v.to = s.at
	return v
}

// container passes an object or an array.
func (s *scanner) container(depth int, closing byte) {
	if depth >= maxDepth {
		s.fail("no deeper value")
		return
	}
	s.at++
	if s.space(); s.peek() == closing {
		s.at++
		return
	}
	for s.err == nil {
		if closing == '}' {
			s.name()
		}
		s.value(depth + 1)
		s.space()
		switch s.peek() {
		case ',':
			s.at++
			s.space()
		case closing:
			s.at++
			return
		default:
			s.fail("',' or the closing bracket")
		}
	}
}

func (s *scanner) literal(word string) {
	if s.err == nil && len(s.line)-s.at >= len(word) && string(s.line[s.at:s.at+len(word)]) == word {
		s.at += len(word)
		return
	}
	s.fail(word)
}

func (s *scanner) number() {
	if s.peek() == '-' {
		s.at++
	}
	if s.peek() == '0' {
		s.at++
	} else {
		s.digits()
	}
	if s.peek() == '.' {
		s.at++
		s.digits()
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.at++
		if c := s.peek(); c == '+' || c == '-' {
			s.at++
		}
		s.digits()
	}
}

func (s *scanner) digits() {
	from := s.at
	for c := s.peek(); '0' <= c && c <= '9'; c = s.peek() {
		s.at++
	}
	if s.at == from {
		s.fail("a value")
	}
}

// string passes a string and reports whether it has no escapes.
func (s *scanner) string() (plain bool) {
	plain = true
	s.at++
	for s.err == nil {
		s.at += clean(s.line[s.at:])
		switch c := s.peek(); {
		case c == '"':
			s.at++
			return plain
		case c == '\\':
			plain = false
			s.escape()
		default:
			s.fail("the rest of a string")
		}
	}
	return plain
}

func (s *scanner) escape() {
	s.at++
	switch s.peek() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.at++
	case 'u':
		s.at++
		for range 4 {
			if !isHex(s.peek()) {
				s.fail("a hexadecimal digit")
				return
			}
			s.at++
		}
	default:
		s.fail("an escape")
	}
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// clean returns how many bytes p starts with that may stand in a string as they
// are: no quote, no backslash, no control character. It looks at eight at a time,
// because text is most of a log.
func clean(p []byte) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	n := 0
	for ; len(p)-n >= 8; n += 8 {
		w := binary.LittleEndian.Uint64(p[n:])
		quote, slash := w^ones*'"', w^ones*'\\'
		// The lowest marked byte is exact: a borrow can only mark bytes above one.
		mark := ((w-ones*' ')&^w | (quote-ones)&^quote | (slash-ones)&^slash) & tops
		if mark != 0 {
			return n + bits.TrailingZeros64(mark)/8
		}
	}
	for n < len(p) && p[n] >= ' ' && p[n] != '"' && p[n] != '\\' {
		n++
	}
	return n
}
