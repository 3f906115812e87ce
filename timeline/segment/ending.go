package segment

import (
	"bytes"
	"errors"
	"hash/crc32"
	"strconv"
)

// The engine ends each line with its checksum and its sequence:
//
//	…,"crc":"<8 hex digits>","seq":N}
const (
	seqField = `"seq":`
	crcField = `,"crc":"`
	crcBytes = len(crcField) + 8 + len(`"`)
	endBytes = crcBytes + len(`,`+seqField+`18446744073709551615}`) + len("\n") // at most
)

var errChecksum = errors.New("does not fit its checksum")

// appendLine appends a line with its checksum, sequence and newline.
func appendLine(dst, line []byte, seq uint64) []byte {
	body := bytes.TrimRight(line[:len(line)-1], " \t\r")
	dst = append(dst, body...)
	if len(body) == 1 { // an empty object: nothing to check
		dst = append(dst, seqField...)
		return append(strconv.AppendUint(dst, seq, 10), '}', '\n')
	}
	at := len(dst)
	dst = append(dst, crcField+`00000000",`+seqField...)
	dst = append(strconv.AppendUint(dst, seq, 10), '}')
	sum := hexOf(checksum(body, dst[at+crcBytes:]))
	copy(dst[at+len(crcField):], sum[:])
	return append(dst, '\n')
}

// hexOf writes a checksum as it stands in a line.
func hexOf(crc uint32) (digits [8]byte) {
	for i := range digits {
		digits[i] = "0123456789abcdef"[crc>>(28-4*i)&15]
	}
	return digits
}

// checksum is the CRC-32C of a line without the checksum itself: what stands before
// it, and what stands behind it.
func checksum(body, rest []byte) uint32 {
	return crc32.Update(crc32.Checksum(body, castagnoli), castagnoli, rest)
}

// seqOf returns the sequence at the end of a line. Only the last field of the
// line's own object can end in the bytes that are looked for.
func seqOf(line []byte) (seq uint64, ok bool) {
	seq, _, ok = seqAt(line)
	return seq, ok
}

// seqAt is seqOf with the offset of the comma or brace before the field.
func seqAt(line []byte) (seq uint64, at int, ok bool) {
	end := len(line) - 1
	if end < len(seqField)+2 || line[end] != '}' {
		return 0, 0, false
	}
	i, scale := end, uint64(1)
	for i > 0 && end-i < 18 && line[i-1]-'0' <= 9 {
		i--
		seq += uint64(line[i]-'0') * scale
		scale *= 10
	}
	if i == end || (line[i] == '0' && end-i > 1) || !bytes.HasSuffix(line[:i], []byte(seqField)) {
		return 0, 0, false
	}
	at = i - len(seqField) - 1
	return seq, at, at >= 0 && (line[at] == ',' || (line[at] == '{' && at == 0))
}

// A sum says what the checksum of a line says.
type sum int

const (
	noSum    sum = iota // the line ends without one
	rightSum            // the line is what the engine wrote
	wrongSum
)

// An ending is what the end of a line says.
type ending struct {
	seq      uint64
	numbered bool
	sum      sum
	stem     int // where the checksum starts, if it is right
}

// endingOf looks at one line by itself.
func endingOf(line []byte) (e ending) {
	var at int
	e.seq, at, e.numbered = seqAt(line)
	from := at - crcBytes
	if !e.numbered || from < 1 || string(line[from:from+len(crcField)]) != crcField || line[at-1] != '"' {
		return e
	}
	e.sum, e.stem = rightSum, from
	if want := hexOf(checksum(line[:from], line[at:])); string(want[:]) != string(line[from+len(crcField):at-1]) {
		e.sum, e.stem = wrongSum, 0
	}
	return e
}

// sumOf checks a line against its checksum.
func sumOf(line []byte) sum { return endingOf(line).sum }

// endsOddly reports whether a line without a whole checksum has one of its fields at
// the end all the same, which only damage leaves there.
func endsOddly(line []byte) bool {
	end := line[max(0, len(line)-endBytes):]
	_, numbered := seqOf(line)
	return numbered || bytes.Contains(end, []byte(crcField))
}
