package segment

import (
	"bytes"
	"sort"
)

// How much a probe reads: little first, since most lines are short.
const (
	firstProbeBytes = 4 << 10
	probeBytes      = 16 << 10
)

// seek goes to the segment and the place in it where the line from is.
func (r *Reader) seek(v *View, from uint64) error {
	i := len(v.segments) - 1
	if from == v.end {
		if err := r.enter(v.segments[i].n, v.committed); err != nil {
			return err
		}
		r.next = from
		return nil
	}
	i, first, err := v.find(from)
	if err != nil {
		return err
	}
	r.next = first
	if n := v.segments[i].n; i == 0 && n > 1 && from < first {
		r.started = true // the start of the log is missing, which Next says
		return nil
	}
	if err := r.enter(v.segments[i].n, 0); err != nil {
		return err
	}
	return r.jump(from)
}

// startAt goes to the start of a segment of a view, or of the one behind it.
func (r *Reader) startAt(v *View, segment uint64) error {
	ls := listing{segments: v.segments}
	i, _ := ls.index(segment)
	if r.epoch = v.epoch; i == len(v.segments) {
		return nil
	}
	first, err := v.first(i)
	if err != nil {
		return err
	}
	r.next, r.started = first, true
	if n := v.segments[i].n; i > 0 || segment == n {
		r.last = n - 1
	}
	return nil
}

// jump goes forward inside the segment that was just entered, to a line that is
// not behind the public line from. It may stay where it is.
func (r *Reader) jump(from uint64) error {
	lo, hi := int64(0), r.scan.end
	if s := r.src.seal; s != nil {
		i := s.frameOf(from)
		if i <= 0 {
			return nil
		}
		lo, r.next = s.frames[i].plainStart, s.summary.Frames[i].seq()
		hi = min(hi, lo+s.frames[i].plainBytes)
	}
	for hi-lo > firstChunkBytes {
		mid := lo + (hi-lo)/2
		seq, at, ok := r.probe(mid)
		if !ok {
			break
		}
		if seq <= from {
			lo, r.next = at, seq
		} else {
			hi = mid
		}
	}
	r.scan.reset(r.src, lo, r.scan.end)
	return nil
}

// probe returns the sequence and place of a line shortly behind off. It trusts
// only two lines in a row that agree.
func (r *Reader) probe(off int64) (seq uint64, at int64, ok bool) {
	for _, size := range []int64{firstProbeBytes, probeBytes} {
		p := make([]byte, min(size, r.scan.end-off))
		n, _ := r.src.ReadAt(p, off)
		parts := bytes.SplitN(p[:n], []byte{'\n'}, 4)
		if len(parts) < 4 {
			continue
		}
		at = off + int64(len(parts[0])) + 1
		seq, ok = seqOf(parts[1])
		second, also := seqOf(parts[2])
		return seq, at, ok && also && second >= seq && second-seq <= 1
	}
	return 0, 0, false
}

// frameOf returns the index of the last frame whose first sequence is not behind
// seq, or zero.
func (s *sealedFile) frameOf(seq uint64) int {
	if s.summary == nil {
		return 0
	}
	i := sort.Search(len(s.summary.Frames), func(i int) bool { return s.summary.Frames[i].seq() > seq })
	return max(0, i-1)
}
