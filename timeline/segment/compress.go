package segment

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
)

const frameBytes = 128 << 10

// compress writes the sealed form of a plain segment and syncs it.
func (l *Log) compress(ctx context.Context, src *source, draft *os.File) error {
	s, err := l.plan(src)
	if err != nil {
		return err
	}
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true))
	if err != nil {
		return err
	}
	defer enc.Close()
	room := summaryRoom(len(s.Frames))
	at, off := room, int64(0)
	frames := make([]frame, len(s.Frames))
	var plain, packed []byte
	for i := range s.Frames {
		if err := ctx.Err(); err != nil {
			return err
		}
		size := int64(s.Frames[i][1])
		if int64(cap(plain)) < size {
			plain = make([]byte, size)
		}
		plain = plain[:size]
		if _, err := src.ReadAt(plain, off); err != nil {
			return err
		}
		packed = enc.EncodeAll(plain, packed[:0])
		if _, err := l.disk.writeAt(draft, packed, at); err != nil {
			return err
		}
		s.Frames[i][0] = uint64(len(packed))
		s.Packed = crc32.Update(s.Packed, castagnoli, packed)
		// A zstd frame ends in the very checksum that the seek table wants.
		sum := binary.LittleEndian.Uint32(packed[len(packed)-4:])
		frames[i] = frame{start: at, bytes: int64(len(packed)), plainStart: off, plainBytes: size, checksum: sum}
		at, off = at+int64(len(packed)), off+size
	}
	table := appendTable(nil, room, frames)
	s.Packed = crc32.Update(s.Packed, castagnoli, table)
	if _, err := l.disk.writeAt(draft, table, at); err != nil {
		return err
	}
	head, err := s.append(nil, room)
	if err != nil {
		return err
	}
	if _, err := l.disk.writeAt(draft, head, 0); err != nil {
		return err
	}
	return l.disk.dataSync(draft)
}

// plan reads a segment once and cuts it into frames at newlines. The header is a
// frame of its own, so that reading it costs little.
func (l *Log) plan(src *source) (*summary, error) {
	s := &summary{Kind: summaryKind, Version: version, Segment: src.n, Bytes: src.info.Size()}
	var err error
	if s.First, err = l.firstOf(src.n); err != nil {
		return nil, err
	}
	if s.Committed, err = src.committed(0); err != nil {
		return nil, err
	}
	cut := &cutter{summary: s}
	sum := &summing{src: src, hash: sha256.New()}
	s.Next, err = l.scanFrom(sum, src, 0, s.Committed, s.First, cut.add)
	if err != nil {
		return nil, err
	}
	if cut.end(s.Bytes); cut.tooLarge {
		return nil, fmt.Errorf("a line is larger than %d bytes", maxFrameBytes)
	}
	s.Digest, err = sum.finish()
	return s, err
}

// firstOf returns the public sequence in front of segment n.
func (l *Log) firstOf(n uint64) (uint64, error) {
	h, err := l.headerOf(n)
	if err != nil {
		return 0, err
	}
	if h != nil {
		return h.First, nil
	}
	ls, err := l.list()
	if err != nil {
		return 0, err
	}
	i, _ := ls.index(n)
	return l.endOf(ls.segments[:i])
}

// A cutter collects lines into frames.
type cutter struct {
	*summary
	start    int64 // of the frame that is being filled
	seq      uint64
	filled   bool
	header   bool
	tooLarge bool
}

func (c *cutter) add(line *Line) bool {
	size := line.Offset - c.start + int64(len(line.Bytes)) + 1
	if c.filled && (size > frameBytes || c.header) {
		c.end(line.Offset)
	}
	if !c.filled {
		c.seq, c.filled = line.Seq, true
	}
	c.header = line.Header
	return true
}

// end closes the frame before the offset at.
func (c *cutter) end(at int64) {
	size := at - c.start
	if size == 0 {
		return
	}
	c.tooLarge = c.tooLarge || size > maxFrameBytes
	c.Frames = append(c.Frames, frameSummary{0, uint64(size), c.seq})
	c.start, c.filled = at, false
}

// compare decodes a draft and compares it with the plain file, byte for byte.
func (l *Log) compare(ctx context.Context, src *source, draft string) error {
	sealed, err := openSealed(src.n, draft)
	if errors.Is(err, os.ErrNotExist) {
		return errOvertaken
	}
	if err != nil {
		return err
	}
	defer sealed.Close()
	if sealed.seal.summary == nil || sealed.seal.plainBytes != src.info.Size() {
		return fmt.Errorf("segment: seal %s: the draft has no whole summary", src.path)
	}
	want, got := make([]byte, blockBytes), make([]byte, blockBytes)
	for off := int64(0); off < src.info.Size(); off += blockBytes {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := src.ReadAt(want, off)
		if err != nil && err != io.EOF {
			return fmt.Errorf("segment: %w", err)
		}
		m, err := sealed.ReadAt(got, off)
		if err != nil && err != io.EOF {
			return err
		}
		if !bytes.Equal(want[:n], got[:m]) {
			return fmt.Errorf("segment: seal %s: the draft differs at byte %d", src.path, off)
		}
	}
	return nil
}
