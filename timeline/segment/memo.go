package segment

import "sync"

const memoFilterBytes = 8 << 20

// A memo keeps what cannot change any more: headers, their filters, and the ends of
// segments that are not the newest. It belongs to one epoch and is forgotten with
// it.
type memo struct {
	mu      sync.Mutex
	epoch   Epoch
	heads   map[uint64]*header // without facts and filter; nil: there is none
	counts  map[uint64]uint64  // public lines of segments without any sequence
	filters map[uint64][]byte
	bytes   int // of all filters

	segments []entry // of the last listing that was without a hole; of any epoch
}

// listed returns the segments of an earlier listing, nil if there is none to rely on.
func (m *memo) listed() []entry {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.segments
}

// keepListing keeps a listing that is unbroken, and forgets the one of before.
func (m *memo) keepListing(ls *listing) {
	var segments []entry
	if ls.unbroken() {
		segments = ls.segments
	}
	m.keepSegments(segments)
}

func (m *memo) keepSegments(segments []entry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.segments = segments
}

// in empties the memo unless it is of the given epoch. It is called with mu locked.
func (m *memo) in(epoch Epoch) {
	if m.heads != nil && m.epoch == epoch {
		return
	}
	m.epoch, m.bytes = epoch, 0
	m.heads, m.counts, m.filters = map[uint64]*header{}, map[uint64]uint64{}, map[uint64][]byte{}
}

// knows reports whether the header of segment n was read in this epoch.
func (m *memo) knows(epoch Epoch, n uint64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.epoch == epoch && m.heads[n] != nil
}

func (m *memo) keep(epoch Epoch, n uint64, h *header) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.in(epoch)
	if h != nil {
		slim := *h
		slim.Facts, slim.Keys, slim.HasKeys = nil, nil, false
		h = &slim
	}
	m.heads[n] = h
}

func (m *memo) head(epoch Epoch, n uint64) (h *header, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.in(epoch)
	h, ok = m.heads[n]
	return h, ok
}

func (m *memo) count(epoch Epoch, n uint64) (count uint64, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.in(epoch)
	count, ok = m.counts[n]
	return count, ok
}

func (m *memo) keepCount(epoch Epoch, n, count uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.in(epoch)
	m.counts[n] = count
}

// filter returns the filter over segment n if it is kept.
func (m *memo) filter(epoch Epoch, n uint64) (bits []byte, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.in(epoch)
	bits, ok = m.filters[n]
	return bits, ok
}

func (m *memo) keepFilter(epoch Epoch, n uint64, bits []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.in(epoch)
	if m.bytes += len(bits); m.bytes > memoFilterBytes {
		clear(m.filters)
		m.bytes = len(bits)
	}
	m.filters[n] = bits
}
