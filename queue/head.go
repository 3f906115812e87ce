package queue

import (
	"bytes"
	"sync"

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
	scratch := scratches.Get().(*[firstRead]byte)
	defer scratches.Put(scratch)
	at, text, err := k.skipBlank(scratch[:])
	if err != nil || len(text) == 0 || text[0] != '{' {
		return false, err
	}
	if text, err = k.wholeLine(at, text); err != nil || len(text) == 0 {
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
	k.from, k.first, k.seen = at, l, true
	return true, nil
}

var scratches = sync.Pool{New: func() any { return new([firstRead]byte) }}

// skipBlank returns the offset of the first byte that is not blank, and what was read
// from there on; nothing, when that is not at the start of a line.
func (k *sheet) skipBlank(buf []byte) (int64, []byte, error) {
	before := byte('\n')
	for at := k.from; at < k.size; {
		n, err := k.file.ReadAt(buf[:min(int64(len(buf)), k.size-at)], at)
		if n == 0 && err != nil {
			return 0, nil, err
		}
		rest := bytes.TrimLeft(buf[:n], " \n")
		skipped := n - len(rest)
		if skipped > 0 {
			before = buf[skipped-1]
		}
		at += int64(skipped)
		if len(rest) > 0 {
			if before != '\n' {
				return 0, nil, nil
			}
			return at, rest, nil
		}
		if len(buf) < blankRead {
			buf = make([]byte, blankRead)
		}
	}
	return 0, nil, nil
}

// wholeLine returns the line that starts at an offset, without its newline, given
// what was read of it. It is empty when the line does not end.
func (k *sheet) wholeLine(at int64, text []byte) ([]byte, error) {
	for size := 4 * firstRead; ; size *= 4 {
		if i := bytes.IndexByte(text, '\n'); i >= 0 {
			return text[:i], nil
		}
		if at+int64(len(text)) >= k.size {
			return nil, nil
		}
		text = make([]byte, min(int64(size), k.size-at))
		if _, err := k.file.ReadAt(text, at); err != nil {
			return nil, err
		}
	}
}
