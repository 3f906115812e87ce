package segment

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// maxFrameBytes bounds what one frame may hold, so that a file cannot ask for any
// amount of memory.
const maxFrameBytes = 256 << 20

// slackBytes is how much more room a decoder is given than it fills: with as much it
// need not watch the end at each step.
const slackBytes = 32

// A sealedFile is the uncompressed bytes of a sealed segment. One frame is kept in
// memory. It is used by one goroutine at a time.
type sealedFile struct {
	path       string
	file       *os.File
	plainBytes int64
	committed  int64
	summary    *summary // nil when it is damaged, or another program compressed
	frames     []frame  // nil when the file has no index
	loose      *looseFile

	block   []byte // the frame in memory
	blockAt int64
	raw     []byte
}

// decoders are kept for reuse: making one costs more than decoding a frame.
var decoders = sync.Pool{New: func() any {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		return err
	}
	return d
}}

// openSealed opens a compressed segment: one that Seal made by its summary, else
// one with a seek table, else any zstd file, which is decoded from its start.
func openSealed(n uint64, path string) (*source, error) {
	f, info, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	s, err := indexSealed(path, f, info.Size())
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &source{n: n, path: path, file: f, info: info, seal: s}, nil
}

func indexSealed(path string, f *os.File, size int64) (*sealedFile, error) {
	s := &sealedFile{path: path, file: f}
	var err error
	s.summary, s.frames, err = readSummary(f, size)
	if err == nil {
		s.plainBytes, s.committed = s.summary.Bytes, s.summary.Committed
		return s, nil
	}
	if s.summary = nil; !errors.Is(err, errNoSummary) {
		return nil, err
	}
	s.frames, err = readTable(f, size)
	if errors.Is(err, errNoTable) {
		s.loose, err = openLoose(path, f, size)
		if err == nil {
			s.plainBytes, s.committed = s.loose.plainBytes, s.loose.committed
		}
		return s, err
	}
	if err != nil {
		return nil, err
	}
	if last := len(s.frames) - 1; last >= 0 {
		s.plainBytes = s.frames[last].plainStart + s.frames[last].plainBytes
	}
	s.committed, err = lastNewline(s, 0, s.plainBytes)
	if errors.Is(err, ErrCorrupt) {
		s.committed, err = s.plainBytes, nil
	}
	return s, err
}

// summaryBytes returns where the frames start.
func (s *sealedFile) summaryBytes() int64 {
	if len(s.frames) == 0 {
		return 0
	}
	return s.frames[0].start
}

func (s *sealedFile) close() {
	if s.loose != nil {
		s.loose.close()
	}
}

// ReadAt reads uncompressed bytes. A frame that cannot be decoded is a
// [*CorruptError] with the range that is lost.
func (s *sealedFile) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) && off < s.plainBytes {
		if off < s.blockAt || off >= s.blockAt+int64(len(s.block)) {
			if err := s.load(off); err != nil {
				return n, err
			}
		}
		c := copy(p[n:], s.block[off-s.blockAt:])
		n, off = n+c, off+int64(c)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// load brings the frame around off into memory.
func (s *sealedFile) load(off int64) error {
	if s.loose != nil {
		var err error
		s.block, s.blockAt, err = s.loose.load(off, s.block)
		return err
	}
	i := sort.Search(len(s.frames), func(i int) bool { return s.frames[i].plainStart > off }) - 1
	f := s.frames[i]
	s.block, s.blockAt = s.block[:0], f.plainStart
	block, err := s.decode(f)
	if err != nil {
		return &CorruptError{Path: s.path, Offset: f.plainStart, Bytes: f.plainBytes, Err: fmt.Errorf("frame at byte %d of the file: %w", f.start, err)}
	}
	s.block = block
	return nil
}

// decode decodes one frame into the memory of the last one.
func (s *sealedFile) decode(f frame) ([]byte, error) {
	if int64(cap(s.raw)) < f.bytes {
		s.raw = make([]byte, f.bytes)
	}
	raw := s.raw[:f.bytes]
	if _, err := s.file.ReadAt(raw, f.start); err != nil {
		return nil, err
	}
	if int64(cap(s.block)) < f.plainBytes+slackBytes {
		s.block = make([]byte, 0, f.plainBytes+slackBytes)
	}
	pooled := decoders.Get()
	d, ok := pooled.(*zstd.Decoder)
	if !ok {
		return nil, pooled.(error)
	}
	defer decoders.Put(d)
	out, err := d.DecodeAll(raw, s.block[:0:f.plainBytes+slackBytes])
	if err != nil {
		return nil, err
	}
	if int64(len(out)) != f.plainBytes {
		return nil, fmt.Errorf("holds %d bytes, want %d", len(out), f.plainBytes)
	}
	return out, nil
}
