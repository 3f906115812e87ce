package queue

import (
	"bytes"
	"encoding/json"
	"errors"
)

var (
	errTornTail = errors.New("an entry that was being added is incomplete")
	errTornHead = errors.New("an entry that was being removed is incomplete")
	errFragment = errors.New("a part that is no message")
	errNoEnd    = errors.New("the list does not end")
	errBlanked  = errors.New("every entry is overwritten")
)

// salvage tells the entries of a file that is no JSON list from its faults.
func salvage(data []byte) reading {
	if byLine(data) {
		return salvageLines(data)
	}
	return salvageValues(data)
}

// byLine reports whether the file was written one entry a line. A file of another
// writer puts a brace alone, or starts behind the bracket.
func byLine(data []byte) bool {
	rest, ok := bytes.CutPrefix(data, opening)
	if !ok {
		return false
	}
	first, _, _ := bytes.Cut(bytes.TrimLeft(rest, " \n"), []byte("\n"))
	return string(bytes.TrimSpace(first)) != "{"
}

// A lineSalvage reads a damaged file of this package line by line. Only what
// starts at the start of a line is taken for an entry: a fragment may hold braces.
type lineSalvage struct {
	reading
	data []byte
	at   int
}

func salvageLines(data []byte) reading {
	s := lineSalvage{data: data, at: len(opening)}
	closed := false
	for s.at < len(data) && !closed {
		line := data[s.at:]
		if i := bytes.IndexByte(line, '\n'); i >= 0 {
			line = line[:i]
		}
		rest := data[min(s.at+len(line)+1, len(data)):]
		final := len(bytes.Trim(rest, " \n")) == 0
		if closed = final && string(bytes.TrimRight(line, " ")) == "]"; !closed {
			s.line(line, final)
		}
		s.at += len(line) + 1
	}
	if len(s.elements) == 0 {
		return s.nothing()
	}
	if torn := len(s.faults) > 0 && s.faults[len(s.faults)-1].Kind == TornTail; !closed && !torn {
		s.faults = append(s.faults, Fault{Kind: TornTail, Offset: int64(len(data)), Bare: true, Err: errNoEnd})
	}
	return s.reading
}

// nothing is what a file without a single whole entry says. No edit leaves that: the
// first entry comes with the file, and the last one goes with it.
func (s *lineSalvage) nothing() reading {
	for i := range s.faults {
		s.faults[i].Kind, s.faults[i].Bare = Damaged, false
	}
	if len(s.faults) == 0 {
		s.fault(Damaged, 0, nil, errBlanked)
	}
	return s.reading
}

// line takes one line for an entry or for a fault. The final one is the last that
// holds anything.
func (s *lineSalvage) line(line []byte, final bool) {
	if blank(line) {
		return
	}
	raw, _ := bytes.CutSuffix(line, []byte(","))
	cut := final && bytes.HasSuffix(line, []byte(",]"))
	if cut {
		raw = line[:len(line)-2]
	}
	if line[0] == '{' {
		e, err := decode(raw)
		if errors.Is(err, errChanged) {
			s.fault(Damaged, 0, line, err)
			return
		}
		if err == nil {
			s.elements = append(s.elements, element{int64(s.at), raw, e})
			if cut {
				s.fault(TornTail, len(raw), line, errNoEnd)
			}
			return
		}
		if raw, e, err := decodeFirst(line); err == nil {
			s.elements = append(s.elements, element{int64(s.at), raw, e})
			s.fault(Damaged, len(raw), line, errFragment)
			return
		}
	}
	switch {
	case line[0] == ' ' && len(s.elements) == 0 && len(s.faults) == 0 && endsEntry(line):
		s.fault(TornHead, 0, line, errTornHead)
	case final && line[0] == '{':
		s.fault(TornTail, 0, line, errTornTail)
	default:
		s.fault(Damaged, 0, line, errFragment)
	}
}

// decodeFirst reads the entry with which part starts.
func decodeFirst(part []byte) (json.RawMessage, Entry, error) {
	var raw json.RawMessage
	if err := json.NewDecoder(bytes.NewReader(part)).Decode(&raw); err != nil {
		return nil, Entry{}, err
	}
	e, err := decode(raw)
	return raw, e, err
}

// endsEntry reports whether a line ends as one with an entry does.
func endsEntry(line []byte) bool {
	t := bytes.TrimSpace(line)
	return string(t) == "," || bytes.HasSuffix(t, []byte("},")) || bytes.HasSuffix(t, []byte("}"))
}

// fault notes that the line makes no sense from the byte at skip on.
func (s *lineSalvage) fault(kind FaultKind, skip int, line []byte, err error) {
	part := line[skip:]
	s.faults = append(s.faults, Fault{
		Kind: kind, Offset: int64(s.at + skip), Length: int64(len(part)),
		Bare: len(bytes.Trim(part, " ,]")) == 0, Err: err,
	})
}

// A valueSalvage reads a damaged file of another writer value by value. Behind a
// part that makes no sense it goes on at the next brace that stands as far to the
// right as that of the first entry.
type valueSalvage struct {
	reading
	data   []byte
	at     int
	resync []byte // newline, indentation, brace; nil if the file has none
}

func salvageValues(data []byte) reading {
	s := valueSalvage{data: data}
	if t := bytes.TrimLeft(data, " \t\r\n"); len(t) > 0 && t[0] == '[' {
		s.at = len(data) - len(t) + 1
	}
	if brace := bytes.IndexByte(data, '{'); brace > 0 {
		if line := bytes.LastIndexByte(data[:brace], '\n'); line >= 0 {
			s.resync = data[line : brace+1]
		}
	}
	for s.value() {
	}
	return s.reading
}

// value takes the next part of the file for an entry or for a fault.
func (s *valueSalvage) value() (more bool) {
	rest := bytes.TrimLeft(s.data[s.at:], " \t\r\n,")
	s.at = len(s.data) - len(rest)
	if len(rest) == 0 {
		s.fault(0, errNoEnd)
		return false
	}
	if rest[0] == ']' && len(bytes.TrimSpace(rest[1:])) == 0 {
		return false
	}
	part := rest[:s.next(rest)]
	raw, e, err := decodeFirst(part)
	if err == nil {
		s.elements = append(s.elements, element{int64(s.at), raw, e})
		s.at += len(raw)
		return true
	}
	s.fault(len(part), err)
	s.at += len(part)
	return s.at < len(s.data)
}

// next is how far it is to the place where the next entry could start.
func (s *valueSalvage) next(rest []byte) int {
	if s.resync == nil {
		return len(rest)
	}
	if i := bytes.Index(rest, s.resync); i >= 0 {
		return i + len(s.resync) - 1
	}
	return len(rest)
}

func (s *valueSalvage) fault(length int, err error) {
	s.faults = append(s.faults, Fault{Kind: Damaged, Offset: int64(s.at), Length: int64(length), Err: err})
}
