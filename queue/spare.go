package queue

import (
	"bytes"
	"os"
)

// spareBytes bounds the file that is kept for the next list. In each list that it
// becomes it grows, by what was in the one before, so that one create and one unlink
// are shared by many messages.
const spareBytes = 16 << 10

// retire gives up what is known of a list that is no more. Its file is kept open, for
// it may be the next list.
func (q *Queue) retire() {
	if q.known.file != nil && q.known.size <= q.spareAt {
		q.dropSpare()
		q.spare, q.spareInfo = q.known.file, q.known.info
		q.known.file = nil
	}
	q.forget()
}

func (q *Queue) dropSpare() {
	if q.spare != nil {
		q.spare.Close()
	}
	q.spare, q.spareInfo = nil, nil
}

// shed takes the other name from a list that is too long to be kept, before its own.
// Where that fails, the next list makes way for itself.
func (q *Queue) shed() {
	if q.known.file != nil && q.known.size > q.spareAt {
		_ = q.disk.remove(q.path + newSuffix)
	}
}

// reuse returns a draft in the file that the list before this one was in, or a dead
// process began. It is nil when there is none that serves, or another name leads to it.
//
// What stood there becomes blank, and the file only grows: a handle that knew it as
// an earlier list finds it blank up to where it was then.
func (q *Queue) reuse() *draft {
	f := q.openSpare()
	if f == nil {
		return nil
	}
	links, size := linksOf(f)
	if links != 1 || size > q.spareAt {
		f.Close()
		return nil
	}
	d := &draft{q: q, file: f}
	if size > int64(len(opening)) {
		d.head = make([]byte, size, size+firstRead)
		n := copy(d.head, opening)
		copy(d.head[n:], bytes.Repeat([]byte(" "), int(size)-n))
		d.head[size-1] = '\n'
	}
	return d
}

// openSpare opens the file that was kept, unless somebody else may read or write it.
func (q *Queue) openSpare() *os.File {
	path := q.path + newSuffix
	f, info := q.spare, q.spareInfo
	q.spare, q.spareInfo = nil, nil
	there, err := os.Lstat(path)
	if f != nil && (err != nil || !os.SameFile(there, info)) {
		f.Close()
		f = nil
	}
	if err != nil {
		return nil
	}
	if f == nil {
		if f, there, err = q.disk.open(path, os.O_RDWR); err != nil {
			return nil
		}
	}
	if there.Mode().Perm()&^0o600 != 0 {
		f.Close()
		return nil
	}
	return f
}
