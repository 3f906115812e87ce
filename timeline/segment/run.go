package segment

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math/bits"
)

// A reader of many lines holds them against their checksums a run at a time, since a
// checksum of many bytes costs half of what it costs in small parts. For that moment
// each line in the buffer has a form behind which the register of the CRC is zero if the
// line's own checksum is right:
//
//	stored   body ,"crc":"9f0e11aa" ,"seq":7}⏎
//	held     body ,"seq":7} 9f0e11aa as 4 bytes, then zeros
//
// with the first four bytes of the body inverted, which is how the register of a
// line's own checksum starts. The run fits if the register is zero behind it. If it
// does not, its lines are looked at one by one.
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
	crc    uint32
	seq    uint64
}

// A run is lines one behind the other that fit their checksums.
type run struct {
	cuts []cut
	want int // how many bytes to try next
}

// ahead makes the run of the lines that p[from:] starts with. The lines before the
// place it returns must not be tried again.
func (r *run) ahead(p []byte, from int) (tried int) {
	r.cuts = r.cuts[:0]
	limit := min(len(p), from+r.grow())
	for at := from; at < limit; {
		c := r.add()
		if !c.take(p[:limit], at) {
			r.cuts = r.cuts[:len(r.cuts)-1]
			break
		}
		at = c.end
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
		if c := r.add(); c.take(p, at) {
			at = c.end
			continue
		}
		i := bytes.IndexByte(p[at:], '\n')
		if i < 0 {
			r.cuts = r.cuts[:0]
			return len(p)
		}
		at += i + 1
		from, r.cuts = at, r.cuts[:0]
	}
	r.hold(p, from)
	return from
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
	start := from
	for i := range r.cuts {
		c := &r.cuts[i]
		c.reform(p[start:c.end], c.body-start)
		start = c.end
	}
	// Go keeps the register inverted between two updates.
	zero := crc32.Update(^uint32(0), castagnoli, p[from:start]) == ^uint32(0)
	start = from
	for i := range r.cuts {
		c := &r.cuts[i]
		c.restore(p[start:c.end], c.body-start)
		start = c.end
	}
	if !zero {
		r.cuts = r.cuts[:0]
	}
	return start
}

const (
	crcWord  = `,"crc":"` // eight bytes, as the digits and the next word
	seqWord  = `","seq":`
	sumBytes = len(crcWord) + 8 + len(`"`)
	leastCut = 4 + len(crcWord) + 8 + len(seqWord) + len(`0}`)
)

// take takes the line at p[at:]. It returns false if there is no whole line, or one that
// ends otherwise than the engine ends lines.
func (c *cut) take(p []byte, at int) bool {
	i := bytes.IndexByte(p[at:], '\n')
	if i < leastCut || !c.read(p[at:at+i]) {
		return false
	}
	c.body += at
	c.end = at + i + 1
	return true
}

// read takes the end of a line apart.
func (c *cut) read(line []byte) bool {
	seq, digits := lastNumber(line)
	body := len(line) - len(`}`) - digits - len(seqWord) - 8 - len(crcWord)
	if digits == 0 || body < 4 {
		return false
	}
	sum := line[body : body+24]
	word := binary.LittleEndian.Uint64(sum[8:])
	crc, ok := unhex(word)
	if !ok || string(sum[:8]) != crcWord || string(sum[16:]) != seqWord {
		return false
	}
	c.body, c.digits, c.crc, c.seq = body, word, crc, seq
	return true
}

// endsRun reports whether p ends in a line that can be one of a run.
func endsRun(p []byte) bool {
	p = p[max(0, len(p)-endBytes-leastCut):]
	return len(p) > leastCut && p[len(p)-1] == '\n' && new(cut).read(p[:len(p)-1])
}

// lastNumber reads a number from the end of at least nine bytes, behind which a brace
// ends them, and how many digits it has. They are none if the bytes end otherwise.
func lastNumber(p []byte) (n uint64, digits int) {
	const ones = 0x0101010101010101
	tail := p[len(p)-9:]
	x := binary.LittleEndian.Uint64(tail) ^ '0'*ones
	other := (x + (0x7f-9)*ones | x) & (0x80 * ones) // the top bits of what is no digit
	if digits = bits.LeadingZeros64(other) / 8; digits == 8 {
		return lastLong(p)
	}
	if tail[8] != '}' || digits > 1 && tail[8-digits] == '0' {
		return 0, 0
	}
	x &= ^uint64(0) << (64 - 8*digits) // what is before counts as zeros
	x = x*10 + x>>8
	x = (x&0x000000ff000000ff*(100+1000000<<32) + x>>16&0x000000ff000000ff*(1+10000<<32)) >> 32
	return x & 0xffffffff, digits
}

// lastLong is lastNumber for eight digits and more.
func lastLong(p []byte) (n uint64, digits int) {
	n, at, ok := seqAt(p)
	if !ok {
		return 0, 0
	}
	return n, len(p) - at - len(`,`+seqField+`}`)
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

// reform brings a line, with its newline, into the form in which it is held.
func (c *cut) reform(line []byte, body int) {
	invertStart(line)
	end := line[body:]
	rest := len(end) - sumBytes - 1
	move(end, end[sumBytes:], rest)
	end = end[rest:]
	_ = end[17]
	binary.LittleEndian.PutUint32(end, ^c.crc)
	binary.LittleEndian.PutUint64(end[4:], 0)
	binary.LittleEndian.PutUint64(end[10:], 0)
}

// restore takes reform back.
func (c *cut) restore(line []byte, body int) {
	invertStart(line)
	end := line[body:]
	move(end[sumBytes:], end, len(end)-sumBytes-1)
	_ = end[17]
	copy(end[:8], crcWord)
	binary.LittleEndian.PutUint64(end[8:], c.digits)
	end[16] = '"'
	end[len(end)-1] = '\n'
}

func invertStart(line []byte) {
	binary.LittleEndian.PutUint32(line, ^binary.LittleEndian.Uint32(line))
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
