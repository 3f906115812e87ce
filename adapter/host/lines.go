package host

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

const (
	headBytes = 4 << 10 // how much is kept of a line that is too long
	heldBytes = 1 << 20 // how much memory is kept from line to line
)

// Lines reads what a program writes, line by line, in bounded memory. One goroutine
// may use it.
type Lines struct {
	in    *bufio.Reader
	limit int
	held  []byte
}

// NewLines returns a reader of lines of at most limitBytes, their ends not counted.
func NewLines(r io.Reader, limitBytes int) *Lines {
	return &Lines{in: bufio.NewReaderSize(r, 64<<10), limit: limitBytes}
}

// Next returns the next line, without its end, valid until the next call. Of a line
// that is too long, whole is false and the line its first 4 KiB: the reader is behind it
// all the same. An error is that of the reader; what stands behind the last newline is
// no line.
func (l *Lines) Next() (line []byte, whole bool, err error) {
	if cap(l.held) > heldBytes {
		l.held = nil
	}
	l.held = l.held[:0]
	whole = true
	for {
		part, err := l.in.ReadSlice('\n')
		switch {
		case !whole:
		case len(l.held)+len(bytes.TrimSuffix(part, []byte("\n"))) > l.limit:
			whole = false
			l.held = append(l.held, part...)
			l.held = l.held[:min(headBytes, len(l.held))]
		default:
			l.held = append(l.held, part...)
		}
		if err == nil {
			return bytes.TrimSuffix(l.held, []byte("\n")), whole, nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, false, err
		}
	}
}

// WholeFields returns an object with the fields that stand whole at the beginning of one
// on a line that is too long, and nil if there are none.
func WholeFields(head []byte) []byte {
	d := json.NewDecoder(bytes.NewReader(head))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	whole := int64(0)
	for {
		if key, err := d.Token(); err != nil || key == json.Delim('}') {
			break
		}
		var value json.RawMessage
		if d.Decode(&value) != nil || d.InputOffset() >= int64(len(head)) { // a number may go on
			break
		}
		whole = d.InputOffset()
	}
	if whole == 0 {
		return nil
	}
	return append(bytes.Clone(head[:whole]), '}')
}
