package lock

import (
	"hash/crc32"
	"strconv"
)

// A Mark is how a holder left a file that it changed, by which the next holders see that
// somebody who takes no lock has put another one in its place. It is the holders' to say
// what of the file counts.
type Mark struct {
	Size int64  // of the file, in bytes; 0 stands for none
	From int64  // where in it begins what counts
	Tail uint32 // a checksum of its end
}

// Mark returns the last mark that was set, and false if there is none: nobody set one
// since the lock was interrupted, or a holder who knows of no marks made a change since.
func (r *Record) Mark() (m Mark, ok bool) {
	s := r.known()
	return s.mark, s.marked
}

// SetMark replaces the mark. It reaches the disk with the next [Record.Begin],
// [Record.Done] or [Record.Recovered] that writes, and not by itself.
func (r *Record) SetMark(m Mark) {
	s := r.known()
	s.mark, s.marked = m, true
}

// Where the fields stand in the line of a mark. They are separated by one space each.
const (
	sizeAt  = len("mark ")
	sizeEnd = sizeAt + 16
	fromAt  = sizeEnd + 1
	fromEnd = fromAt + 16
	tailAt  = fromEnd + 1
	tailEnd = tailAt + 8
	sumAt   = tailEnd + 1
	sumEnd  = sumAt + 8
)

// put writes the mark into line, which is blank. It counts under the generation only:
// a holder who does not know of it raises that, and leaves the mark as it is.
func (m Mark) put(line, generation []byte) {
	copy(line, "mark ")
	putHex(line[sizeAt:sizeEnd], uint64(m.Size))
	putHex(line[fromAt:fromEnd], uint64(m.From))
	putHex(line[tailAt:tailEnd], uint64(m.Tail))
	putHex(line[sumAt:sumEnd], uint64(markSum(line, generation)))
	line[len(line)-1] = '\n'
}

func markSum(line, generation []byte) uint32 {
	return crc32.Update(crc32.Checksum(generation, castagnoli), castagnoli, line[:tailEnd])
}

// markIn returns the mark that the line holds under the generation.
func markIn(line, generation []byte) (m Mark, ok bool) {
	sum, ok := hexIn(line[sumAt:sumEnd])
	if !ok || sum != uint64(markSum(line, generation)) {
		return Mark{}, false
	}
	size, sizeOK := hexIn(line[sizeAt:sizeEnd])
	from, fromOK := hexIn(line[fromAt:fromEnd])
	tail, tailOK := hexIn(line[tailAt:tailEnd])
	return Mark{int64(size), int64(from), uint32(tail)}, sizeOK && fromOK && tailOK
}

func putHex(field []byte, n uint64) {
	for i := len(field) - 1; i >= 0; i, n = i-1, n>>4 {
		field[i] = "0123456789abcdef"[n&15]
	}
}

func hexIn(field []byte) (n uint64, ok bool) {
	n, err := strconv.ParseUint(string(field), 16, 64)
	return n, err == nil
}
