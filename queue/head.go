package queue

import (
	"bytes"
	"io"

	"github.com/docket-go/docket/lock"
)

const (
	firstRead = 4 << 10
	blankRead = 64 << 10
)

// Head returns the oldest entry, with what is known of the attempts at it, and
// false if nothing is owed. It reads one entry, whatever the depth.
//
// As every method that takes the held lock it may bring the file into this
// package's form: a list of another writer is rewritten, one that is empty is
// removed. The error is a [*CorruptError] when the file makes no sense there, a
// [*WriteError], [lock.ErrNotHeld], or of the disk; nothing was changed then.
func (q *Queue) Head(held *lock.Record) (Entry, bool, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l, err := q.first(held)
	if err != nil || l == nil {
		return Entry{}, false, err
	}
	n, err := q.note(held)
	if err != nil {
		return Entry{}, false, err
	}
	e := l.entry
	n.applyTo(&e)
	return e, true, nil
}

// first returns the oldest entry and its place, or nil if there is none.
func (q *Queue) first(held *lock.Record) (*line, error) {
	if err := q.load(held); err != nil {
		return nil, err
	}
	k := &q.known
	if k.file == nil || k.first != nil {
		return k.first, nil
	}
	ok, err := k.seek()
	if err == nil && !ok {
		err = q.reread(held)
	}
	if err == nil && q.known.file != nil && q.known.first == nil {
		_, err = q.known.seek()
	}
	return q.known.first, err
}

// seek finds the oldest entry. It answers false when what stands there is not a
// line of this package.
func (k *sheet) seek() (bool, error) {
	at, err := k.skipBlank()
	if err != nil || at < 0 {
		return false, err
	}
	text, err := k.lineAt(at)
	if err != nil || len(text) == 0 || text[0] != '{' {
		return false, err
	}
	raw, comma := bytes.CutSuffix(text, []byte(","))
	l := &line{offset: at, length: int64(len(raw)), last: !comma}
	if l.last != (l.end()+int64(len(closing))-1 == k.size) {
		return false, nil
	}
	if l.entry, err = decode(raw); err != nil {
		return false, nil
	}
	k.from, k.first = at, l
	return true, nil
}

// skipBlank returns the offset of the first byte that is not blank, and -1 when
// that is not at the start of a line.
func (k *sheet) skipBlank() (int64, error) {
	buf := make([]byte, firstRead)
	before := byte('\n')
	for at := k.from; at < k.size; {
		n, err := k.file.ReadAt(buf, at)
		if n == 0 && err != nil {
			return -1, err
		}
		rest := bytes.TrimLeft(buf[:n], " \n")
		skipped := n - len(rest)
		if skipped > 0 {
			before = buf[skipped-1]
		}
		at += int64(skipped)
		if len(rest) > 0 {
			if before != '\n' {
				return -1, nil
			}
			return at, nil
		}
		if len(buf) < blankRead {
			buf = make([]byte, blankRead)
		}
	}
	return -1, nil
}

// lineAt returns the line that starts at an offset, without its newline.
func (k *sheet) lineAt(at int64) ([]byte, error) {
	buf := make([]byte, 0, firstRead)
	for {
		n, err := k.file.ReadAt(buf[len(buf):cap(buf)], at+int64(len(buf)))
		fresh := buf[len(buf) : len(buf)+n]
		if i := bytes.IndexByte(fresh, '\n'); i >= 0 {
			return buf[:len(buf)+i], nil
		}
		buf = buf[:len(buf)+n]
		if err == io.EOF {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if len(buf) == cap(buf) {
			grown := make([]byte, len(buf), 4*cap(buf))
			copy(grown, buf)
			buf = grown
		}
	}
}
