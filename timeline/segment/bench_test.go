package segment_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/timeline/segment"
)

// A quick schema, so that the engine is measured and not the decoder.
type quickSchema struct{}

func (quickSchema) Classify(line []byte) segment.Class {
	if bytes.HasPrefix(line, []byte(`{"kind":"p"`)) {
		return segment.Public
	}
	return segment.Private
}

func (quickSchema) Fold(json.RawMessage) segment.Fold { return quickFold{} }

type quickFold struct{}

func (quickFold) Add(segment.Line)       {}
func (quickFold) Facts() json.RawMessage { return nil }

func (quickSchema) Key([]byte) ([]byte, bool) { return nil, false }

var benchLine = []byte(fmt.Sprintf(`{"kind":"p","id":"0123456789abcdef","text":"%s"}`, strings.Repeat("some words ", 22)))

func benchLog(b *testing.B, o segment.Options) (*segment.Log, *lock.Record, string) {
	b.Helper()
	dir := b.TempDir()
	locks, err := lock.Open(dir, lock.Options{})
	must(b, err)
	held, err := locks.Record(context.Background())
	must(b, err)
	o.Dir, o.Schema = filepath.Join(dir, "timeline"), quickSchema{}
	log, err := segment.Open(dir, o)
	must(b, err)
	b.Cleanup(func() { log.Close(); held.Release(); locks.Close() })
	_, err = log.Write(held, benchLine)
	must(b, err)
	return log, held, dir
}

func benchFile(b *testing.B) *os.File {
	b.Helper()
	f, err := os.OpenFile(filepath.Join(b.TempDir(), "raw"), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	must(b, err)
	b.Cleanup(func() { f.Close() })
	return f
}

func BenchmarkWrite(b *testing.B) {
	b.Run("raw", func(b *testing.B) {
		f, line := benchFile(b), append(benchLine, '\n')
		for b.Loop() {
			_, err := f.Write(line)
			must(b, err)
		}
	})
	b.Run("held", func(b *testing.B) {
		log, held, _ := benchLog(b, segment.Options{Buffered: true})
		for b.Loop() {
			_, err := log.Write(held, benchLine)
			must(b, err)
		}
	})
	for _, segments := range []int{1, 3, 100, 1000} {
		b.Run(fmt.Sprint("fresh, ", segments, " segments"), func(b *testing.B) {
			old, held, dir := benchLog(b, segment.Options{Buffered: true, SegmentBytes: 1})
			for range segments - 1 {
				_, err := old.Write(held, benchLine)
				must(b, err)
			}
			old.Close()
			o := segment.Options{Dir: filepath.Join(dir, "timeline"), Schema: quickSchema{}, Buffered: true, SegmentBytes: -1}
			for b.Loop() {
				log, err := segment.Open(dir, o)
				must(b, err)
				_, err = log.Write(held, benchLine)
				must(b, err)
				must(b, log.Close())
			}
		})
	}
}

func BenchmarkWriteSync(b *testing.B) {
	b.Run("raw", func(b *testing.B) {
		f, line := benchFile(b), append(benchLine, '\n')
		for b.Loop() {
			_, err := f.Write(line)
			must(b, err)
			must(b, segment.DataSync(f))
		}
	})
	b.Run("held", func(b *testing.B) {
		log, held, _ := benchLog(b, segment.Options{})
		for b.Loop() {
			w, err := log.Write(held, benchLine)
			must(b, err)
			must(b, log.Sync(w))
		}
	})
}

// benchLines returns a log of so many lines and the bytes in it.
func benchLines(b *testing.B, lines int) (*segment.Log, string) {
	b.Helper()
	log, held, dir := benchLog(b, segment.Options{Buffered: true})
	batch := make([][]byte, 100)
	for i := range batch {
		batch[i] = benchLine
	}
	for range lines / len(batch) {
		_, err := log.Write(held, batch...)
		must(b, err)
	}
	return log, filepath.Join(dir, "timeline")
}

func BenchmarkBackward500(b *testing.B) {
	for _, lines := range []int{10_000, 200_000} {
		log, dir := benchLines(b, lines)
		b.Run(fmt.Sprint("raw/", lines), func(b *testing.B) {
			paths, _ := filepath.Glob(filepath.Join(dir, "*.ndjson"))
			block := make([]byte, 64<<10)
			for b.Loop() {
				count := 0
				for i := len(paths) - 1; i >= 0 && count < 500; i-- {
					count += countBack(b, paths[i], block, 500-count)
				}
			}
		})
		b.Run(fmt.Sprint("view/", lines), func(b *testing.B) {
			for b.Loop() {
				v, err := log.View(context.Background())
				must(b, err)
				count := 0
				for _, err := range v.Backward(context.Background()) {
					if err != nil {
						b.Fatal(err)
					}
					if count++; count == 500 {
						break
					}
				}
			}
		})
	}
}

// countBack counts up to n newlines of a file from its end.
func countBack(b *testing.B, path string, block []byte, n int) (count int) {
	f, err := os.Open(path)
	must(b, err)
	defer f.Close()
	off, err := f.Seek(0, io.SeekEnd)
	must(b, err)
	for off > 0 && count < n {
		size := min(off, int64(len(block)))
		off -= size
		_, err := f.ReadAt(block[:size], off)
		must(b, err)
		for p := block[:size]; count < n; count++ {
			i := bytes.LastIndexByte(p, '\n')
			if i < 0 {
				break
			}
			p = p[:i]
		}
	}
	return count
}

func BenchmarkReader(b *testing.B) {
	const lines = 100_000
	log, dir := benchLines(b, lines)
	b.Run("raw", func(b *testing.B) {
		paths, _ := filepath.Glob(filepath.Join(dir, "*.ndjson"))
		block := make([]byte, 128<<10)
		for b.Loop() {
			total := 0
			for _, path := range paths {
				total += countLines(b, path, block)
			}
			b.SetBytes(int64(total) * int64(len(benchLine)))
		}
	})
	b.Run("reader", func(b *testing.B) {
		for b.Loop() {
			r, err := log.Reader(context.Background(), 0)
			must(b, err)
			total := 0
			for {
				_, err := r.Next(context.Background())
				if err == io.EOF {
					break
				}
				if err != nil {
					b.Fatal(err)
				}
				total++
			}
			must(b, r.Close())
			b.SetBytes(int64(total) * int64(len(benchLine)))
		}
	})
}

// countLines finds each line of a file.
func countLines(b *testing.B, path string, block []byte) (lines int) {
	f, err := os.Open(path)
	must(b, err)
	defer f.Close()
	for {
		n, err := f.Read(block)
		for p := block[:n]; ; lines++ {
			i := bytes.IndexByte(p, '\n')
			if i < 0 {
				break
			}
			p = p[i+1:]
		}
		if err == io.EOF {
			return lines
		}
		must(b, err)
	}
}

func BenchmarkSeek(b *testing.B) {
	log, _ := benchLines(b, 100_000)
	b.Run("reader in the middle", func(b *testing.B) {
		for b.Loop() {
			r, err := log.Reader(context.Background(), 50_007)
			must(b, err)
			_, err = r.Next(context.Background())
			must(b, err)
			must(b, r.Close())
		}
	})
}
