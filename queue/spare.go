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
		q.spare, q.spareStatus = q.known.file, q.known.status
		q.known.file = nil
	}
	q.forget()
}

func (q *Queue) dropSpare() {
	if q.spare != nil {
		q.spare.Close()
	}
	q.spare = nil
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
	f, now := q.openSpare()
	if f == nil {
		return nil
	}
	if now.links != 1 || now.size > q.spareAt || now.mode&^0o600 != 0 {
		f.Close()
		return nil
	}
	size := now.size
	d := &draft{q: q, file: f}
	if size > int64(len(opening)) {
		d.head = make([]byte, size, size+firstRead)
		n := copy(d.head, opening)
		copy(d.head[n:], bytes.Repeat([]byte(" "), int(size)-n))
		d.head[size-1] = '\n'
	}
	return d
}

// openSpare opens the file that was kept, and returns its status.
func (q *Queue) openSpare() (*os.File, status) {
	path := q.path + newSuffix
	f := q.spare
	q.spare = nil
	now, err := statusAt(path)
	if f != nil && (err != nil || !now.same(&q.spareStatus)) {
		f.Close()
		f = nil
	}
	if f == nil && err == nil {
		if f, _, err = q.disk.open(path, os.O_RDWR); err == nil {
			now, err = statusOf(f)
		}
	}
	if err != nil && f != nil {
		f.Close()
		f = nil
	}
	return f, now
}
