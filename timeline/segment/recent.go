package segment

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/lock/stamp"
)

// recentBits is the size of the filter over the newest segment: for the keys that a
// segment of the usual size can hold, one in a thousand is taken for another.
const recentBits = 32 << 10 * 8

// namesAgain bounds how long the names of segments are believed by the stamp of their
// directory where a key is looked for.
const namesAgain = time.Second

// recentKeys is the filter over the newest segment that no header has yet, kept by a
// handle that looks for keys again and again. Each look adds what was appended since
// the one before.
type recentKeys struct {
	mu    sync.Mutex
	epoch Epoch
	n     uint64 // the segment; zero before the first look
	end   int64  // so far its committed bytes are in the filter
	next  uint64 // public sequence at end
	bits  []byte // nil: this is the first look at the segment
	doubt bool   // something could not be read: only a search tells

	// What a handle that writes knows of the whole log while segment n is the newest.
	segments []entry    // the log up to n; nil: some key may be where no filter tells
	older    [][]byte   // the filters over all but n that are not empty
	file     *os.File   // of the tail
	named    stamp.Mark // in the tail's dir, of the last look at the names under the record lock
}

// excludes reports that the newest segment of a view has no line with the key, and
// nothing unreadable either. False says nothing.
func (r *recentKeys) excludes(v *View, digest []byte) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := v.Newest()
	if n == 0 || v.epoch == (Epoch{}) {
		return false, nil
	}
	if r.n != n || r.epoch != v.epoch || v.committed < r.end {
		r.n, r.epoch, r.end, r.bits, r.doubt, r.segments = n, v.epoch, 0, nil, false, nil
		return false, nil
	}
	if r.bits == nil {
		first, err := v.first(len(v.segments) - 1)
		if err != nil {
			return false, err
		}
		r.bits, r.next = make([]byte, recentBits/8), first
	}
	if err := r.catchUp(v); err != nil || r.doubt {
		return false, err
	}
	return excludes(r.bits, digest), nil
}

// catchUp adds the lines up to the end of the view.
func (r *recentKeys) catchUp(v *View) error {
	if r.end == v.committed || r.doubt {
		return nil
	}
	src, err := v.log.open(r.n)
	if errors.Is(err, errMissing) {
		r.doubt = true // the search says what it is
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(r.extend(v.log, src, v.committed), src.Close())
}

// extend adds the lines up to the offset end.
func (r *recentKeys) extend(l *Log, src *source, end int64) error {
	next, err := l.scan(src, r.end, end, r.next, func(line *Line) bool {
		r.add(l, line)
		return !r.doubt
	})
	if err == nil {
		r.end, r.next = end, next
	}
	return err
}

func (r *recentKeys) add(l *Log, line *Line) {
	switch {
	case line.Class == Unreadable:
		r.doubt = true
	case line.Header:
	default:
		r.addKey(l.key(line))
	}
}

func (r *recentKeys) addKey(digest []byte, ok bool) {
	if ok {
		d := fixed(digest)
		set(r.bits, &d)
	}
}

// Lacks reports that FindKey would yield nothing, and costs a few calls. False says
// nothing: ask FindKey. Only a handle that has asked that before, and has written to the
// newest segment, can tell.
//
// While that file, which the handle has open, bears its name, at the length that the
// filter knows, and no segment is behind it, the log has nothing that the filters do not
// know. What others have appended is read. A file that was moved, replaced or put back
// from a copy is another one, also if it has the same bytes, and a shorter one is not
// what it was.
//
// For the holder of the record lock it is cheaper: what was found out about the names
// in an earlier hold is so still while the directory has the stamp that it had then, as
// for a write. It is looked at again after a second, in case somebody changed a name
// without the lock at the moment of the look. Held may be nil: then the names are looked
// at each time.
func (l *Log) Lacks(held *lock.Record, digest []byte) bool {
	l.writing.Lock()
	defer l.writing.Unlock()
	r := &l.recent
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.segments == nil || l.tail.file != r.file || l.tail.dir == nil || r.legacyCame(l) {
		return false
	}
	size, same := r.stands(l, held)
	return same && r.grown(l, size) && r.excludesOlder(digest) && excludes(r.bits, digest)
}

// legacyCame reports that the log has a segment before the first that it had not. That
// one is in another directory than the others.
func (r *recentKeys) legacyCame(l *Log) bool {
	if l.o.Legacy == "" || r.segments[0].n == 0 {
		return false
	}
	there, err := exists(l.o.Legacy)
	return there || err != nil
}

// stands reports that the newest segment is the file that it was and bears its name,
// that no other was added, and what is its size.
func (r *recentKeys) stands(l *Log, held *lock.Record) (size int64, same bool) {
	t := &l.tail
	under := held != nil && held.Covers(l.lockDir) == nil
	if under && r.named.Stands(t.dir, namesAgain) {
		size, err := t.file.Seek(0, io.SeekEnd)
		return size, err == nil
	}
	if under {
		r.named.Look(t.dir)
	}
	size, current, err := t.look()
	if err != nil || !current {
		r.named = stamp.Mark{}
		return 0, false
	}
	return size, true
}

// grown adds what was appended to the newest segment, whose size is given, and reports
// that all of it is in the filter.
func (r *recentKeys) grown(l *Log, size int64) bool {
	t := &l.tail
	if size <= r.end {
		return size == r.end && !r.doubt
	}
	end, err := lastNewline(t.file, r.end, size)
	if err == nil {
		err = r.extend(l, &source{n: t.n, path: t.path, file: t.file}, end)
	}
	return err == nil && !r.doubt
}

func (r *recentKeys) excludesOlder(digest []byte) bool {
	for _, bits := range r.older {
		if !excludes(bits, digest) {
			return false
		}
	}
	return true
}

// wrote adds what the tail has just got, if the filter knows all before. It spares the
// next look the reading.
func (r *recentKeys) wrote(l *Log, lines []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := &l.tail
	if r.segments == nil || t.file != r.file || r.end != t.end-int64(len(lines)) {
		return
	}
	for line := range bytes.Lines(lines) {
		r.addKey(l.keyIntact(bytes.TrimSuffix(line, []byte{'\n'})))
	}
	r.end, r.next = t.end, t.next
}

// oversee is called after a search that found nothing, and notes whether the next one can
// be spared.
func (r *recentKeys) oversee(v *View) {
	l := v.log
	l.writing.Lock()
	defer l.writing.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	t := &l.tail
	if t.file == nil || t.n != r.n || t.n != v.Newest() || r.epoch != v.epoch || r.bits == nil {
		return
	}
	if older, whole := l.memo.filtersBefore(v); whole {
		r.segments, r.older, r.file, r.named = v.segments, older, t.file, stamp.Mark{}
	}
}

// filtersBefore returns the filters over the segments before the newest of the view,
// without those that have no key, and whether none is missing.
func (m *memo) filtersBefore(v *View) (all [][]byte, whole bool) {
	last := len(v.segments) - 1
	for i, s := range v.segments {
		if i > 0 && s.n != v.segments[i-1].n+1 || i == 0 && s.n > 1 {
			return nil, false
		}
		if i == last {
			break
		}
		bits, ok := m.filter(v.epoch, s.n)
		if !ok {
			return nil, false
		}
		if len(bits) > 0 {
			all = append(all, bits)
		}
	}
	return all, true
}
