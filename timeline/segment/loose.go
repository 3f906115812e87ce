package segment

import (
	"bytes"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

const (
	looseBlock  = 1 << 20
	looseWindow = 128 << 20
)

// A looseFile is a zstd file without an index, as zstd itself makes it. It is
// decoded from its start up to the block that is asked for; going back starts
// anew. Where it cannot be decoded any more, the rest is lost.
type looseFile struct {
	path       string
	raw        io.ReaderAt
	size       int64
	plainBytes int64
	committed  int64
	broken     error // why the bytes from committed on are lost

	dec *zstd.Decoder
	at  int64 // how far dec has come
}

// openLoose decodes the file once to find its size and the end of its last line.
func openLoose(path string, raw io.ReaderAt, size int64) (*looseFile, error) {
	f := &looseFile{path: path, raw: raw, size: size}
	if err := f.restart(); err != nil {
		return nil, err
	}
	buf := make([]byte, blockBytes)
	for {
		n, err := f.dec.Read(buf)
		if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 {
			f.committed = f.plainBytes + int64(i) + 1
		}
		f.plainBytes += int64(n)
		f.at = f.plainBytes
		if err == io.EOF {
			return f, nil
		}
		if err != nil {
			// One byte stands for what is lost, so that readers come upon it.
			f.broken = err
			f.plainBytes = f.committed + 1
			f.committed = f.plainBytes
			return f, nil
		}
	}
}

func (f *looseFile) restart() error {
	src := io.NewSectionReader(f.raw, 0, f.size)
	f.at = 0
	if f.dec != nil {
		return f.dec.Reset(src)
	}
	dec, err := zstd.NewReader(src, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(looseWindow))
	if err != nil {
		return fmt.Errorf("segment: %s: %w", f.path, err)
	}
	f.dec = dec
	return nil
}

func (f *looseFile) close() { f.dec.Close() }

// load decodes the block around off into buf and returns where it starts.
func (f *looseFile) load(off int64, buf []byte) ([]byte, int64, error) {
	end := f.plainBytes
	if f.broken != nil {
		if end--; off >= end {
			return buf[:0], off, &CorruptError{Path: f.path, Offset: end, Bytes: 1, Err: fmt.Errorf("cannot be decoded from here on: %w", f.broken)}
		}
	}
	start := off - off%looseBlock
	if start < f.at {
		if err := f.restart(); err != nil {
			return buf[:0], 0, err
		}
	}
	if _, err := io.CopyN(io.Discard, f.dec, start-f.at); err != nil {
		return buf[:0], 0, fmt.Errorf("segment: %s: %w", f.path, err)
	}
	size := min(looseBlock, end-start)
	if int64(cap(buf)) < size {
		buf = make([]byte, looseBlock)
	}
	n, err := io.ReadFull(f.dec, buf[:size])
	f.at = start + int64(n)
	if err != nil {
		return buf[:0], 0, fmt.Errorf("segment: %s: %w", f.path, err)
	}
	return buf[:n], start, nil
}
