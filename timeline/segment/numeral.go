package segment

import (
	"encoding/binary"
	"math/bits"
)

// A numeral is the sequence at the end of a line, as it stands there. In a log the
// next one is mostly the same or one more, which is seen without reading it anew.
type numeral struct {
	seq    uint64
	digits int    // how many, none where text does not hold them all
	text   uint64 // the eight bytes before the brace
}

// read goes on to the numeral of a line, which ends in a newline, and returns how many
// digits it has. They are none if the line ends otherwise. Eight may be the last of more
// if they are those of the line before: then no name of a field stands before them.
func (n *numeral) read(line []byte) (digits int) {
	const one = 1 << 56 // the last digit is the highest byte
	end := (*[10]byte)(line[len(line)-10:])
	text := binary.LittleEndian.Uint64(end[:])
	if more := text - n.text; n.digits > 0 && more&^one == 0 && end[7] <= '9' && end[8] == '}' {
		n.text, n.seq = text, n.seq+more/one
		return n.digits
	}
	n.seq, digits = lastNumber(line[:len(line)-1])
	if n.text, n.digits = text, digits; digits > 8 {
		n.digits = 0
	}
	return digits
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
