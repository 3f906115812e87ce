package oneshot

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
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
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, false, err
		}
	}
}

// shortened returns an event with the fields that stand whole at the beginning of a
// line that is too long, so that an end of the turn is not missed for its length.
func shortened(head []byte) []byte {
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

// decode reads an event, and reports whether the line is one. A field of another kind
// than expected is left empty: what it means is then not known.
func decode(line []byte, event any) bool {
	err := json.Unmarshal(line, event)
	var other *json.UnmarshalTypeError
	return err == nil || errors.As(err, &other)
}
