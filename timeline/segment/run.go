package segment

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math/bits"
)

// A reader of many lines holds them against their checksums a run at a time, since a
// checksum of many bytes costs half of what it costs in small parts. For that moment
// each line in the buffer has a form behind which the register of the CRC is all ones, as
// it is where a checksum starts, if the line's own checksum is right:
//
//	stored   body ,"crc":"9f0e11aa" ,"seq":7}⏎
//	held     body ,"seq":7} 9f0e11aa inverted, as 4 bytes, then 10 zeros and onesAgain
//
// The register behind the line's own bytes is the checksum, inverted: the same four
// bytes make it zero, zeros keep it so, and onesAgain ends that. The run fits if the
// register is all ones behind it. If it is not, its lines are looked at one by one.
//
// The CRC is linear and its shifts can be inverted. Damage to one line of a run
// therefore goes unnoticed exactly where that line's own checksum would not notice it.
// Damage to several lines can cancel out, by a chance of one in 2³¹. What is written for
// good (facts, filters, sealed segments) and [Log.Verify] take each line by itself.

const (
	firstRunBytes = 4 << 10 // some look at few lines only
	mostRunBytes  = 16 << 10
)

// A cut is one line of a run.
type cut struct {
	end    int    // in the buffer, behind the newline
	body   int    // where ,"crc":"…" starts
	digits uint64 // of the checksum, as they stand in the line
	seq    uint64
}

// A run is lines one behind the other that fit their checksums.
type run struct {
	cuts []cut
	want int     // how many bytes to try next
	last numeral // of the line that was looked at last
}

// ahead makes the run of the lines that p[from:] starts with. The lines before the
// place it returns must not be tried again.
func (r *run) ahead(p []byte, from int) (tried int) {
	r.cuts = r.cuts[:0]
	limit := min(len(p), from+r.grow())
	at := from
	for at < limit {
		i := bytes.IndexByte(p[at:limit], '\n')
		if i < leastCut || !r.take(p, at, at+i+1) {
			break
		}
		at += i + 1
	}
	return r.hold(p, from)
}

// before makes the run of the lines that p[floor:] ends with, and returns where it
// starts. There is a line before it in p.
func (r *run) before(p []byte, floor int) (from int) {
	r.cuts = r.cuts[:0]
	from = max(floor, len(p)-r.grow())
	from += bytes.IndexByte(p[from:], '\n') + 1
	for at := from; at < len(p); {
		i := bytes.IndexByte(p[at:], '\n')
		if i >= leastCut && r.take(p, at, at+i+1) {
			at += i + 1
			continue
		}
		r.restore(p)
		r.cuts = r.cuts[:0]
		if i < 0 {
			return len(p)
		}
		at += i + 1
		from = at
	}
	r.hold(p, from)
	return from
}

// take adds the line p[from:to] and brings it into the form in which it is held. It
// returns false if that is not how the engine ends lines.
func (r *run) take(p []byte, from, to int) bool {
	c := r.add()
	crc, ok := c.read(p[from:to], &r.last)
	if !ok {
		r.cuts = r.cuts[:len(r.cuts)-1]
		return false
	}
	c.body += from
	c.end = to
	reform(p[c.body:to], crc)
	return true
}

// add returns the place for another cut.
func (r *run) add() *cut {
	if n := len(r.cuts); n < cap(r.cuts) {
		r.cuts = r.cuts[:n+1]
	} else {
		r.cuts = append(r.cuts, cut{})
	}
	return &r.cuts[len(r.cuts)-1]
}

func (r *run) grow() int {
	n := max(r.want, firstRunBytes)
	r.want = min(2*n, mostRunBytes)
	return n
}

// hold empties the run if its lines, which start at from, do not fit, and returns where
// they end.
func (r *run) hold(p []byte, from int) (end int) {
	if len(r.cuts) == 0 {
		return from
	}
	end = r.cuts[len(r.cuts)-1].end
	fits := crc32.Checksum(p[from:end], castagnoli) == 0
	r.restore(p)
	if !fits {
		r.cuts = r.cuts[:0]
	}
	return end
}

// restore brings the lines back into the form in which they are stored.
func (r *run) restore(p []byte) {
	for i := range r.cuts {
		c := &r.cuts[i]
		c.restore(p[c.body:c.end])
	}
}

// onesAgain are four bytes that make a register of zero one of all ones.
const onesAgain = 0x641f6454

const (
	crcWord  = `,"crc":"` // eight bytes, as the digits and the next word
	seqWord  = `","seq":`
	sumBytes = len(crcWord) + 8 + len(`"`)
	leastCut = 4 + len(crcWord) + 8 + len(seqWord) + len(`0}`)
)

// read takes the end of a line apart, which ends in a newline. It returns false if that
// is not how the engine ends lines.
func (c *cut) read(line []byte, last *numeral) (crc uint32, ok bool) {
	digits := last.read(line)
	body := len(line) - len("}\n") - digits - len(seqWord) - 8 - len(crcWord)
	if digits == 0 || body < 1 {
		return 0, false
	}
	sum := (*[24]byte)(line[body:])
	c.digits = binary.LittleEndian.Uint64(sum[8:])
	c.body, c.seq = body, last.seq
	crc, ok = unhex(c.digits)
	return crc, ok && string(sum[:8]) == crcWord && string(sum[16:]) == seqWord
}

// reform brings the end of a line, from ,"crc":"…" on, into the form in which it is held.
func reform(end []byte, crc uint32) {
	n := len(end) - sumBytes - 1
	move(end, end[sumBytes:], n)
	zeros := (*[18]byte)(end[n:])
	binary.LittleEndian.PutUint64(zeros[:], uint64(^crc))
	binary.LittleEndian.PutUint64(zeros[8:], 0)
	binary.LittleEndian.PutUint64(zeros[10:], onesAgain<<32)
}

// endsRun reports whether p ends in a line that can be one of a run.
func endsRun(p []byte) bool {
	p = p[max(0, len(p)-endBytes-leastCut):]
	if len(p) <= leastCut || p[len(p)-1] != '\n' {
		return false
	}
	_, ok := new(cut).read(p, new(numeral))
	return ok
}

// unhex reads eight lower-case hex digits, the first in the lowest byte.
func unhex(digits uint64) (n uint32, ok bool) {
	const ones = 0x0101010101010101
	nibbles := digits&(0x0f*ones) + digits>>6&ones*9
	written := nibbles + '0'*ones + (nibbles+6*ones)>>4&ones*('a'-'9'-1)
	if written != digits || nibbles&(0xf0*ones) != 0 {
		return 0, false
	}
	x := (nibbles<<4 | nibbles>>8) & 0x00ff00ff00ff00ff
	x = (x | x>>8) & 0x0000ffff0000ffff
	return bits.ReverseBytes32(uint32(x | x>>16)), true
}

// restore takes reform back.
func (c *cut) restore(end []byte) {
	n := len(end) - sumBytes - 1
	move(end[sumBytes:], end, n)
	sum := (*[18]byte)(end)
	copy(sum[:8], crcWord)
	binary.LittleEndian.PutUint64(sum[8:], c.digits)
	sum[16] = '"'
	end[len(end)-1] = '\n'
}

// move copies what stands behind a checksum, which is nine bytes or more and mostly
// less than sixteen.
func move(to, from []byte, n int) {
	if n > 16 {
		copy(to, from[:n])
		return
	}
	first, last := binary.LittleEndian.Uint64(from), binary.LittleEndian.Uint64(from[n-8:])
	binary.LittleEndian.PutUint64(to, first)
	binary.LittleEndian.PutUint64(to[n-8:], last)
}
