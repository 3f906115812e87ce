package queue

import (
	"os"
	"sync"
)

// spareBytes bounds the file that is kept for the next list. In each list that it
// becomes it grows, by what was in the one before, so that one create and one unlink
// are shared by many messages.
const spareBytes = 16 << 10

var spareScratches = sync.Pool{New: func() any { return new([spareBytes]byte) }}

// A spare is what was the list before nothing was owed.
type spare struct {
	file   *os.File // nil if it is not open
	status status
	from   int64 // what stands before is an opening and blanks; 0 is nothing
}

// retire gives up what is known of a list that is no more. Its file is kept open, for
// it may be the next list.
func (q *Queue) retire() {
	if k := &q.known; k.file != nil && k.size <= q.spareAt {
		q.dropSpare()
		q.spare = spare{file: k.file, status: k.status}
		q.spare.status.size = k.size
		k.file = nil
	}
	q.forget()
}

func (q *Queue) dropSpare() {
	if q.spare.file != nil {
		q.spare.file.Close()
	}
	q.spare = spare{}
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
	f, now, blank := q.openSpare()
	if f == nil {
		return nil
	}
	if now.links != 1 || now.size > q.spareAt || now.mode&^0o600 != 0 {
		f.Close()
		return nil
	}
	return &draft{q: q, file: f, was: now, at: blank}
}

// openSpare opens the file that was kept, and returns its status and up to where it
// is blank already. What was blank in it stays so, whatever lists it has been since; one
// that has another size than this handle left it with is looked upon as unknown.
func (q *Queue) openSpare() (f *os.File, now status, blank int64) {
	path := q.path + newSuffix
	kept := q.spare
	q.spare = spare{}
	now, err := statusAt(path)
	f = kept.file
	if f != nil && (err != nil || !now.same(&kept.status)) {
		f.Close()
		f = nil
	}
	if f != nil && now.size == kept.status.size {
		blank = kept.from
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
	return f, now, blank
}
