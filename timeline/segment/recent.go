package segment

import (
	"errors"
	"sync"
)

// recentBits is the size of the filter over the newest segment: for the keys that a
// segment of the usual size can hold, one in a thousand is taken for another.
const recentBits = 32 << 10 * 8

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
}

// excludes reports that the newest segment of a view has no line with the key, and
// nothing unreadable either. False says nothing.
func (r *recentKeys) excludes(v *View, digest []byte) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := v.newestNumber()
	if n == 0 || v.epoch == (Epoch{}) {
		return false, nil
	}
	if r.n != n || r.epoch != v.epoch || v.committed < r.end {
		r.n, r.epoch, r.end, r.bits, r.doubt = n, v.epoch, 0, nil, false
		return false, nil
	}
	if r.bits == nil {
		first, err := v.first(len(v.segments) - 1)
		if err != nil {
			return false, err
		}
		r.bits, r.next = make([]byte, recentBits/8), first
	}
	if err := r.extend(v); err != nil || r.doubt {
		return false, err
	}
	return excludes(r.bits, digest), nil
}

// extend adds the lines up to the end of the view.
func (r *recentKeys) extend(v *View) error {
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
	next, err := v.log.scan(src, r.end, v.committed, r.next, func(line *Line) bool {
		r.add(v.log, line)
		return !r.doubt
	})
	r.end, r.next = v.committed, next
	return errors.Join(err, src.Close())
}

func (r *recentKeys) add(l *Log, line *Line) {
	if line.Class == Unreadable {
		r.doubt = true
	}
	if line.Class == Unreadable || line.Header {
		return
	}
	key := l.o.Schema.Key
	if line.Intact {
		key = l.keyIntact
	}
	if digest, ok := key(line.Bytes); ok {
		d := fixed(digest)
		for _, bit := range positions(&d, len(r.bits)) {
			r.bits[bit/8] |= 1 << (bit % 8)
		}
	}
}
