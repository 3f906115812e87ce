package session

import (
	"sync"
	"time"
)

const (
	// maxMemoBytes bounds the records that a Session keeps in memory.
	maxMemoBytes = 64 << 10

	// A file system stamps its files with a clock that stands still between two
	// ticks: of 10 ms at most where it counts in less than milliseconds, and of 2 s
	// where it does not.
	fineTick   = 50 * time.Millisecond
	coarseTick = 4 * time.Second
)

// A stamp is what a file system says of a file without its content. The zero value is
// that of a file about which nothing certain is known.
type stamp struct {
	device, inode uint64
	size          int64
	modified      int64 // nanoseconds since 1970
	changed       int64 // the same; unlike modified, no program can set it
	looked        time.Time
}

// settled reports that a write after the look would have given the file another
// stamp, because the clock had left the tick of this one by then. A clock that is set
// back does not matter, short of to the same nanosecond.
func (s stamp) settled() bool {
	if s.looked.IsZero() {
		return false
	}
	latest, tick := max(s.modified, s.changed), fineTick
	if s.changed%int64(time.Millisecond) == 0 {
		tick = coarseTick
	}
	return s.looked.UnixNano()-latest > int64(tick)
}

// same reports that both are stamps of one file in one state.
func (s stamp) same(t stamp) bool {
	s.looked, t.looked = time.Time{}, time.Time{}
	return s == t
}

// A memo is the record as it was read last. The zero value holds none. It is safe for
// concurrent use.
type memo struct {
	mu     sync.Mutex
	seen   stamp // before the record was read; settled, or zero
	record Record
}

// recall returns the record if the file is the one from which it was read. That holds
// for every writer, also one that knows nothing of the record lock.
func (m *memo) recall(now stamp) (Record, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.seen.settled() || !m.seen.same(now) {
		return Record{}, false
	}
	return m.record.clone(), true
}

// keep notes what was read after a look at the file.
func (m *memo) keep(seen stamp, r Record) {
	if !seen.settled() {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen, m.record = seen, r.clone()
}
