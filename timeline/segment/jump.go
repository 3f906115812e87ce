package segment

import (
	"bytes"
	"sort"
)

const probeBytes = 16 << 10

// jump goes forward inside the segment that was just entered, to a line that is
// not behind the public line from. It may stay where it is.
func (r *Reader) jump(from uint64) error {
	if s := r.src.seal; s != nil {
		if i := s.frameOf(from); i > 0 {
			r.next = s.summary.Frames[i].seq()
			r.scan.reset(r.src, s.frames[i].plainStart, r.scan.end)
		}
		return nil
	}
	lo, hi := int64(0), r.scan.end
	for hi-lo > chunkBytes {
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
	p := make([]byte, min(probeBytes, r.scan.end-off))
	n, _ := r.src.ReadAt(p, off)
	parts := bytes.SplitN(p[:n], []byte{'\n'}, 4)
	if len(parts) < 4 {
		return 0, 0, false
	}
	at = off + int64(len(parts[0])) + 1
	seq, ok = seqOf(parts[1])
	second, also := seqOf(parts[2])
	return seq, at, ok && also && second >= seq && second-seq <= 1
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
