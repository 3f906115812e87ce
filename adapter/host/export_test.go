package host

import "time"

// LookEvery sets how often a broker looks whether its session is still there.
func LookEvery(d time.Duration) (restore func()) {
	before := goneEvery.Swap(int64(d))
	return func() { goneEvery.Store(before) }
}

// SilentAfter sets how long a host may take for what it answers from its memory.
func SilentAfter(d time.Duration) (restore func()) {
	before := silentAfter.Swap(int64(d))
	return func() { silentAfter.Store(before) }
}

// DecodeFrame reads a line, and returns the line that says the same.
func DecodeFrame(line []byte) ([]byte, error) {
	f, err := decodeFrame(line)
	if err != nil {
		return nil, err
	}
	if f.Type == emissionFrame {
		e, err := f.emission()
		if err != nil {
			return nil, err
		}
		if f, err = emissionOf(e.Token, e.N, e.Native, e.Value); err != nil {
			return nil, err
		}
	}
	return appendFrame(nil, f)
}

// Kept returns how many programs the seat holds on to.
func Kept(s *Seat) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.launched)
}

// Expire lets the time pass that a process has for its last words.
func Expire(p *Process) error { return p.out.SetReadDeadline(time.Unix(1, 0)) }
