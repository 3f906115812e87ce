package segment

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// The numbers of the zstd seekable format: skippable frames, the seek table at the
// end of the file, and its footer.
const (
	skippableSummary = 0x184D2A50
	skippableTable   = 0x184D2A5E
	footerMagic      = 0x8F92EAB1
	checksumFlag     = 1 << 7
	reservedBits     = 0x7C
	skippableBytes   = 8 // magic and length in front of a skippable frame
	footerBytes      = 9
	entryBytes       = 12
	emptyChecksum    = 0x51D8E999 // of a frame without content
)

// A frame is one compressed piece of a sealed segment.
type frame struct {
	start, bytes           int64 // in the file
	plainStart, plainBytes int64 // in the uncompressed segment
	checksum               uint32
}

var errNoTable = errors.New("no whole seek table")

// appendTable appends the seek table. The summary in front is an entry without
// content.
func appendTable(dst []byte, summaryBytes int64, frames []frame) []byte {
	le := binary.LittleEndian
	dst = le.AppendUint32(dst, skippableTable)
	dst = le.AppendUint32(dst, uint32((len(frames)+1)*entryBytes+footerBytes))
	dst = le.AppendUint32(dst, uint32(summaryBytes))
	dst = le.AppendUint32(dst, 0)
	dst = le.AppendUint32(dst, emptyChecksum)
	for _, f := range frames {
		dst = le.AppendUint32(dst, uint32(f.bytes))
		dst = le.AppendUint32(dst, uint32(f.plainBytes))
		dst = le.AppendUint32(dst, f.checksum)
	}
	dst = le.AppendUint32(dst, uint32(len(frames)+1))
	dst = append(dst, checksumFlag)
	return le.AppendUint32(dst, footerMagic)
}

func tableBytes(frames int) int64 {
	return skippableBytes + int64(frames+1)*entryBytes + footerBytes
}

// readTable reads the seek table at the end of a file of the given size, of this
// or another program. Frames without content are left out.
func readTable(r io.ReaderAt, size int64) ([]frame, error) {
	le := binary.LittleEndian
	var footer [footerBytes]byte
	if size < skippableBytes+footerBytes {
		return nil, errNoTable
	}
	if _, err := r.ReadAt(footer[:], size-footerBytes); err != nil && err != io.EOF {
		return nil, fmt.Errorf("segment: %w", err)
	}
	if le.Uint32(footer[5:]) != footerMagic || footer[4]&reservedBits != 0 {
		return nil, errNoTable
	}
	step := int64(8)
	if footer[4]&checksumFlag != 0 {
		step = entryBytes
	}
	body := int64(le.Uint32(footer[:]))*step + footerBytes
	if body > size-skippableBytes {
		return nil, errNoTable
	}
	table := make([]byte, skippableBytes+body)
	if _, err := r.ReadAt(table, size-int64(len(table))); err != nil && err != io.EOF {
		return nil, fmt.Errorf("segment: %w", err)
	}
	if le.Uint32(table) != skippableTable || int64(le.Uint32(table[4:])) != body {
		return nil, errNoTable
	}
	return parseEntries(table[skippableBytes:len(table)-footerBytes], int(step), size-int64(len(table)))
}

// parseEntries turns the entries into frames, which must fill exactly size bytes.
func parseEntries(p []byte, step int, size int64) ([]frame, error) {
	le := binary.LittleEndian
	var frames []frame
	at, plain := int64(0), int64(0)
	for ; len(p) >= step; p = p[step:] {
		f := frame{start: at, bytes: int64(le.Uint32(p)), plainStart: plain, plainBytes: int64(le.Uint32(p[4:]))}
		if step == entryBytes {
			f.checksum = le.Uint32(p[8:])
		}
		at, plain = at+f.bytes, plain+f.plainBytes
		if f.plainBytes > maxFrameBytes {
			return nil, errNoTable
		}
		if f.plainBytes > 0 {
			frames = append(frames, f)
		}
	}
	if at != size {
		return nil, errNoTable
	}
	return frames, nil
}
