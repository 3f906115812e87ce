package queue

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

var (
	opening = []byte("[\n")
	closing = []byte("\n]\n")
)

var (
	errNoList   = errors.New("not a JSON list")
	errTrailing = errors.New("more behind the end of the list")
)

// An element is one entry where it stands in the file.
type element struct {
	offset int64
	raw    []byte
	entry  Entry
}

// readLines reads a file that is exactly as this package writes it: blank lines,
// then at least one entry, one a line.
func readLines(data []byte) ([]element, bool) {
	body, framed := bytes.CutSuffix(data, closing)
	if !framed || !bytes.HasPrefix(body, opening) {
		return nil, false
	}
	var elements []element
	for at := len(opening); at <= len(body); {
		line := body[at:]
		last := true
		if i := bytes.IndexByte(line, '\n'); i >= 0 {
			line, last = line[:i], false
		}
		switch {
		case !blank(line):
			raw, comma := bytes.CutSuffix(line, []byte(","))
			e, err := decode(raw)
			if comma == last || line[0] != '{' || err != nil {
				return nil, false
			}
			elements = append(elements, element{int64(at), raw, e})
		case last || len(elements) > 0:
			return nil, false
		}
		at += len(line) + 1
	}
	return elements, len(elements) > 0
}

// readList reads a JSON list of entries in any form. The offset is where an error
// was met.
func readList(data []byte) (elements []element, offset int64, err error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	if t, err := dec.Token(); err != nil || t != json.Delim('[') {
		return nil, 0, errors.Join(errNoList, notEOF(err))
	}
	for dec.More() {
		var raw json.RawMessage
		offset = dec.InputOffset()
		if err := dec.Decode(&raw); err != nil {
			return nil, offset, err
		}
		offset = dec.InputOffset() - int64(len(raw))
		e, err := decode(raw)
		if err != nil {
			return nil, offset, err
		}
		elements = append(elements, element{offset, raw, e})
	}
	if _, err := dec.Token(); err != nil {
		return nil, dec.InputOffset(), err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, dec.InputOffset(), errTrailing
	}
	return elements, 0, nil
}

func notEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// blank reports whether a line holds nothing but spaces.
func blank(line []byte) bool { return len(bytes.TrimLeft(line, " ")) == 0 }

// blanked reports whether a list without an entry has spaces where this package
// overwrites entries. The last entry goes with the file, so that such a list is not
// an empty one: what it held is gone.
func blanked(data []byte) bool {
	body, ok := bytes.CutPrefix(data, opening)
	return ok && bytes.HasPrefix(body, []byte(" "))
}

// A reading is everything that a file says.
type reading struct {
	elements []element
	faults   []Fault
	lines    bool // one entry a line, as this package writes it
}

// read reads a file of any writer and in any state.
func read(data []byte) reading {
	if elements, ok := readLines(data); ok {
		return reading{elements: elements, lines: true}
	}
	elements, offset, err := readList(data)
	if err == nil && len(elements) == 0 && blanked(data) {
		offset, err = int64(len(opening)), errBlanked
	}
	if err == nil {
		return reading{elements: elements}
	}
	r := salvage(data)
	if len(r.faults) == 0 {
		r.faults = []Fault{{Kind: Damaged, Offset: offset, Length: int64(len(data)) - offset, Bare: true, Err: err}}
	}
	return r
}

func (r reading) entries() []Entry {
	if len(r.elements) == 0 {
		return nil
	}
	entries := make([]Entry, len(r.elements))
	for i, e := range r.elements {
		entries[i] = e.entry
	}
	return entries
}

// certain reports that the faults leave no message in doubt and that an edit of
// this package left them, so that the edit can be finished.
func (r reading) certain() bool {
	for _, f := range r.faults {
		if !f.Bare || f.Kind == Damaged {
			return false
		}
	}
	return true
}
