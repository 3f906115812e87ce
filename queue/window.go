package queue

import (
	"bytes"
	"errors"
	"io"
	"math"
)

// MaxEntryBytes bounds what an entry takes in the file. What is longer there is no
// entry.
const MaxEntryBytes = min(1<<30, math.MaxInt)

// A diskError is an error of the disk, which says nothing about the file. That of a file
// which became shorter is [io.ErrUnexpectedEOF].
type diskError struct{ err error }

func (e *diskError) Error() string { return e.Unwrap().Error() }

func (e *diskError) Unwrap() error {
	if e.err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return e.err
}

func isDisk(err error) bool {
	var d *diskError
	return errors.As(err, &d)
}

var errLong = errors.New("longer than any message")

// A window is the part of a file that was read last. Offsets are those of the file, and
// nothing behind size is looked at.
type window struct {
	file io.ReaderAt
	size int64
	room int // how much is read at once

	from int64
	part []byte // what stands from there on
	long []byte // room for what does not fit in
}

func newWindow(file io.ReaderAt, size int64, room int) window {
	return window{file: file, size: size, room: int(max(1, min(int64(room), size)))}
}

// drop forgets what was read, which may be something else by now.
func (w *window) drop() { w.part = w.part[:0] }

// bytes returns what stands at an offset, at least one byte of it, up to end. It is
// valid until the next call, and empty only where end is not behind at.
func (w *window) bytes(at, end int64) ([]byte, error) {
	if at >= end {
		return nil, nil
	}
	if at < w.from || at >= w.from+int64(len(w.part)) {
		if err := w.load(at); err != nil {
			return nil, err
		}
	}
	part := w.part[at-w.from:]
	return part[:min(int64(len(part)), end-at)], nil
}

func (w *window) load(at int64) error {
	if cap(w.part) < w.room {
		w.part = make([]byte, w.room)
	}
	n, err := w.file.ReadAt(w.part[:min(int64(w.room), w.size-at)], at)
	w.from, w.part = at, w.part[:n]
	if n > 0 {
		return nil
	}
	return &diskError{err}
}

// text returns all that stands between two offsets, valid until the next call.
func (w *window) text(at, end int64) ([]byte, error) {
	if end-at > MaxEntryBytes {
		return nil, errLong
	}
	if at >= w.from && end <= w.from+int64(len(w.part)) {
		return w.part[at-w.from : end-w.from], nil
	}
	if int64(cap(w.long)) < end-at {
		w.long = make([]byte, end-at)
	}
	w.long = w.long[:end-at]
	if n, err := w.file.ReadAt(w.long, at); n < len(w.long) {
		return nil, &diskError{err}
	}
	return w.long, nil
}

// span returns the first offset between two at which another byte stands than one of set,
// and end if there is none.
func (w *window) span(at, end int64, set string) (int64, error) {
	for at < end {
		part, err := w.bytes(at, end)
		if err != nil {
			return 0, err
		}
		rest := bytes.TrimLeft(part, set)
		at += int64(len(part) - len(rest))
		if len(rest) > 0 {
			break
		}
	}
	return at, nil
}

// before returns the last offset between two behind which there are only bytes of set,
// and at if there are no others.
func (w *window) before(at, end int64, set string) (int64, error) {
	for at < end {
		from := max(at, end-int64(w.room))
		part, err := w.text(from, end)
		if err != nil {
			return 0, err
		}
		if rest := bytes.TrimRight(part, set); len(rest) > 0 {
			return from + int64(len(rest)), nil
		}
		end = from
	}
	return at, nil
}

// line returns where the line ends that starts at an offset, and whether there is a NUL
// in it, which is in no entry: what a power cut leaves of a file is full of them.
func (w *window) line(at int64) (end int64, nul bool, err error) {
	if whole := w.from + int64(len(w.part)); at > w.from && at < whole && whole < w.size && bytes.IndexByte(w.part[at-w.from:], '\n') < 0 {
		w.drop() // so that a line of the usual length is in one part
	}
	for end = at; end < w.size; {
		part, err := w.bytes(end, w.size)
		if err != nil {
			return 0, nul, err
		}
		i := bytes.IndexByte(part, '\n')
		if i >= 0 {
			part = part[:i]
		}
		nul = nul || bytes.IndexByte(part, 0) >= 0
		end += int64(len(part))
		if i >= 0 {
			break
		}
	}
	return end, nul, nil
}

// find returns where what stands between two offsets begins, and -1 if it does not.
func (w *window) find(at, end int64, what []byte) (int64, error) {
	for at+int64(len(what)) <= end {
		part, err := w.bytes(at, end)
		if err != nil {
			return 0, err
		}
		if len(part) < len(what) {
			if part, err = w.text(at, at+int64(len(what))); err != nil {
				return 0, err
			}
		}
		if i := bytes.Index(part, what); i >= 0 {
			return at + int64(i), nil
		}
		at += int64(len(part) - len(what) + 1)
	}
	return -1, nil
}

// holds reports whether this is what stands at an offset.
func (w *window) holds(at int64, what []byte) (bool, error) {
	if at < 0 || at+int64(len(what)) > w.size {
		return false, nil
	}
	text, err := w.text(at, at+int64(len(what)))
	return bytes.Equal(text, what), err
}

// object returns where the JSON object ends that starts at an offset, as far as its
// braces say, or why none does.
func (w *window) object(at, end int64) (int64, error) {
	depth, quoted, escaped := 0, false, false
	for at < end {
		part, err := w.bytes(at, end)
		if err != nil {
			return 0, err
		}
		for i, c := range part {
			switch {
			case depth == 0 && c != '{':
				return 0, wrapEntry("no object", nil)
			case c < ' ' && (quoted || c != '\t' && c != '\r' && c != '\n'):
				return 0, wrapEntry("a control character", nil)
			case escaped:
				escaped = false
			case quoted:
				escaped, quoted = c == '\\', c != '"'
			case c == '"':
				quoted = true
			case c == '{' || c == '[':
				depth++
			case c == '}' || c == ']':
				if depth--; depth == 0 {
					return at + int64(i) + 1, nil
				}
			}
		}
		at += int64(len(part))
	}
	return 0, wrapEntry("object without end", nil)
}
