package segment

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
)

const (
	summaryKind     = "segment-summary"
	maxSummaryBytes = 64 << 20
)

// A summary is what a sealed segment says of itself, in its first frame. It holds
// the sizes of the frames too, so that the seek table is not needed.
type summary struct {
	Kind      string         `json:"kind"`
	Version   int            `json:"version"`
	Segment   uint64         `json:"segment"`
	First     uint64         `json:"first"`     // public sequence before the segment
	Next      uint64         `json:"next"`      // and behind it
	Bytes     int64          `json:"bytes"`     // uncompressed
	Committed int64          `json:"committed"` // the offset behind the last newline
	Digest    string         `json:"sha256"`    // of the uncompressed segment
	Packed    uint32         `json:"packed"`    // CRC-32C of the file behind the summary
	Frames    []frameSummary `json:"frames"`
}

// A frameSummary is compressed size, uncompressed size, and the sequence at the
// first line.
type frameSummary [3]uint64

func (f frameSummary) seq() uint64 { return f[2] }

var errNoSummary = errors.New("no whole summary")

// append appends the summary as a skippable frame of exactly size bytes, filled up
// with spaces inside the object.
func (s *summary) append(dst []byte, size int64) ([]byte, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	text = text[:len(text)-1]
	fill := size - skippableBytes - int64(len(text)) - int64(len(checkField)) - int64(len(`00000000"}`))
	if fill < 0 {
		return nil, fmt.Errorf("segment: summary needs %d bytes more", -fill)
	}
	text = append(text, bytes.Repeat([]byte{' '}, int(fill))...)
	text = fmt.Appendf(text, `%s%08x"}`, checkField, crc32.Checksum(text, castagnoli))
	dst = binary.LittleEndian.AppendUint32(dst, skippableSummary)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(text)))
	return append(dst, text...), nil
}

// summaryRoom returns enough bytes for a summary with so many frames.
func summaryRoom(frames int) int64 { return 512 + 34*int64(frames) }

// readSummary reads the summary at the start of a sealed file of the given size,
// and the frames that it lists.
func readSummary(r io.ReaderAt, size int64) (*summary, []frame, error) {
	var head [skippableBytes]byte
	if n, err := r.ReadAt(head[:], 0); n < len(head) {
		if err == io.EOF {
			return nil, nil, errNoSummary
		}
		return nil, nil, fmt.Errorf("segment: %w", err)
	}
	bytes := int64(binary.LittleEndian.Uint32(head[4:]))
	if binary.LittleEndian.Uint32(head[:]) != skippableSummary || bytes > min(maxSummaryBytes, size-skippableBytes) {
		return nil, nil, errNoSummary
	}
	text := make([]byte, bytes)
	if _, err := r.ReadAt(text, skippableBytes); err != nil {
		return nil, nil, fmt.Errorf("segment: %w", err)
	}
	s, err := parseSummary(text)
	if err != nil {
		return nil, nil, err
	}
	frames, err := s.frames(skippableBytes+bytes, size)
	return s, frames, err
}

// parseSummary parses the text of a summary whose check is right.
func parseSummary(text []byte) (*summary, error) {
	cut := bytes.LastIndex(text, []byte(checkField))
	if cut < 0 || string(text[cut+len(checkField):]) != fmt.Sprintf(`%08x"}`, crc32.Checksum(text[:cut], castagnoli)) {
		return nil, errNoSummary
	}
	s, ok := decodeSummary(text)
	if !ok {
		s = &summary{}
		if err := json.Unmarshal(text, s); err != nil {
			return nil, fmt.Errorf("%w: %w", errNoSummary, err)
		}
	}
	if s.Kind != summaryKind || s.Version != version || s.Next < s.First {
		return nil, errNoSummary
	}
	return s, nil
}

// decodeSummary decodes a summary that is spelled as append spells it. Who wants one
// line of a sealed segment would otherwise wait for JSON a tenth of the time.
func decodeSummary(text []byte) (s *summary, ok bool) {
	s = &summary{Kind: summaryKind}
	p := headerParser{rest: text}
	p.lit(`{"kind":"` + summaryKind + `","version":`)
	s.Version = int(p.number())
	for _, f := range []struct {
		name string
		at   *uint64
	}{{`,"segment":`, &s.Segment}, {`,"first":`, &s.First}, {`,"next":`, &s.Next}} {
		p.lit(f.name)
		*f.at = p.number()
	}
	p.lit(`,"bytes":`)
	s.Bytes = int64(p.number())
	p.lit(`,"committed":`)
	s.Committed = int64(p.number())
	p.lit(`,"sha256":"`)
	s.Digest = string(p.untilQuote())
	p.lit(`","packed":`)
	packed := p.number()
	s.Packed = uint32(packed)
	p.lit(`,"frames":[`)
	for more := !p.try("]"); more && p.err == nil; more = p.try(",") {
		f := frameSummary{}
		for i, mark := range []string{"[", ",", ","} {
			p.lit(mark)
			f[i] = p.number()
		}
		p.lit("]")
		s.Frames = append(s.Frames, f)
	}
	p.try("]")
	whole := bytes.HasPrefix(bytes.TrimLeft(p.rest, " "), []byte(checkField))
	return s, p.err == nil && whole && s.Bytes >= 0 && s.Committed >= 0 && packed <= math.MaxUint32
}

// frames returns the frames, which must fill the file between the summary and the
// seek table, and must hold what the summary says.
func (s *summary) frames(start, size int64) ([]frame, error) {
	frames := make([]frame, len(s.Frames))
	plain := int64(0)
	for i, f := range s.Frames {
		if f[0] > uint64(size) || f[1] > maxFrameBytes || f[1] == 0 {
			return nil, errNoSummary
		}
		frames[i] = frame{start: start, bytes: int64(f[0]), plainStart: plain, plainBytes: int64(f[1])}
		start, plain = start+int64(f[0]), plain+int64(f[1])
	}
	if start+tableBytes(len(frames)) != size || plain != s.Bytes || s.Committed < 0 || s.Committed > plain {
		return nil, errNoSummary
	}
	return frames, nil
}
