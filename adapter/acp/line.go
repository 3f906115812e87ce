package acp

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

// methodIn returns the method that the beginning of a message names, and "" if it
// names none there.
func methodIn(head []byte) string {
	d := json.NewDecoder(bytes.NewReader(head))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return ""
	}
	for {
		key, err := d.Token()
		if err != nil {
			return ""
		}
		var value any
		if err := d.Decode(&value); err != nil {
			return ""
		}
		if method, ok := value.(string); ok && key == "method" {
			return method
		}
	}
}
