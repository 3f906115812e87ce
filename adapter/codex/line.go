package codex

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
)

// headBytes is how much is kept of a line that is too long.
const headBytes = 4 << 10

// A lines reads lines of bounded length.
type lines struct {
	in    *bufio.Reader
	limit int
	held  []byte
}

func newLines(r io.Reader, limit int) *lines {
	return &lines{in: bufio.NewReaderSize(r, 64<<10), limit: limit}
}

// next returns the next whole line, without its end, valid until the next call. Of a
// line longer than the limit it returns the beginning. What stands behind the last
// newline is no line.
func (l *lines) next() (line []byte, whole bool, err error) {
	if cap(l.held) > 1<<20 {
		l.held = nil
	}
	l.held = l.held[:0]
	whole = true
	for {
		part, err := l.in.ReadSlice('\n')
		switch {
		case !whole:
		case len(l.held)+len(part) > l.limit+1:
			whole = false
			l.held = append(l.held, part...)
			l.held = l.held[:min(headBytes, len(l.held))]
		default:
			l.held = append(l.held, part...)
		}
		if err == nil {
			return bytes.TrimSuffix(l.held, []byte("\n")), whole, nil
		}
		if err != bufio.ErrBufferFull {
			return nil, false, err
		}
	}
}

// headOf returns what the beginning of a message names before it is cut off.
func headOf(head []byte) (m message) {
	d := json.NewDecoder(bytes.NewReader(head))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return m
	}
	for {
		key, err := d.Token()
		if err != nil {
			return m
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return m
		}
		switch key {
		case "method":
			_ = json.Unmarshal(value, &m.Method)
		case "id":
			m.ID = value
		}
	}
}
