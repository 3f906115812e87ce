package segment

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

const blockBytes = 64 << 10

// errMissing is what open answers when a segment has no file in either form.
var errMissing = errors.New("segment is missing")

// errAltered is what is wrong with a segment whose digest is another than it was.
var errAltered = errors.New("it is not what it was: its SHA-256 is another")

// A source is the uncompressed bytes of one open segment, in whichever form.
type source struct {
	n    uint64
	path string
	file *os.File
	info os.FileInfo
	seal *sealedFile // nil when the segment is plain
}

// open opens segment n for reading. A plain file that vanishes was sealed
// meanwhile, so the other form is tried next.
func (l *Log) open(n uint64) (*source, error) {
	for range 3 {
		s, err := openPlain(n, l.plainPath(n))
		if n == 0 || !errors.Is(err, os.ErrNotExist) {
			return s, missing(err)
		}
		s, err = openSealed(n, l.sealedPath(n))
		if !errors.Is(err, os.ErrNotExist) {
			return s, err
		}
	}
	return nil, errMissing
}

func missing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return errMissing
	}
	return err
}

func openPlain(n uint64, path string) (*source, error) {
	f, info, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	return &source{n: n, path: path, file: f, info: info}, nil
}

// openRegular opens a plain file and nothing else.
func openRegular(path string, flags int) (*os.File, os.FileInfo, error) {
	f, err := os.OpenFile(path, flags|openFlags, 0)
	if err != nil {
		if isSymlinkRefusal(err) {
			err = fmt.Errorf("%w: it is a symbolic link: remove it", err)
		}
		return nil, nil, fmt.Errorf("segment: %w", err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a plain file: remove it", path)
	}
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("segment: %w", err)
	}
	return f, info, nil
}

func (s *source) Close() error {
	if s == nil || s.file == nil {
		return nil
	}
	if s.seal != nil {
		s.seal.close()
	}
	return s.file.Close()
}

// size returns the number of uncompressed bytes that are there now.
func (s *source) size() (int64, error) {
	if s.seal != nil {
		return s.seal.plainBytes, nil
	}
	size, _, err := fileState(s.file)
	if err != nil {
		return 0, fmt.Errorf("segment: %w", err)
	}
	return size, nil
}

// ReadAt reads uncompressed bytes. A frame that cannot be decoded is a
// [*CorruptError] that says which range is lost; what was read before it counts.
func (s *source) ReadAt(p []byte, off int64) (int, error) {
	if s.seal != nil {
		return s.seal.ReadAt(p, off)
	}
	return s.file.ReadAt(p, off)
}

// committed returns the offset behind the last newline, knowing that everything
// before from is committed.
func (s *source) committed(from int64) (int64, error) {
	if s.seal != nil {
		return s.seal.committed, nil
	}
	size, err := s.size()
	if err != nil {
		return 0, err
	}
	if size < from {
		return 0, &CorruptError{Path: s.path, Offset: size, Err: fmt.Errorf("the file is %d bytes shorter than what was read from it", from-size)}
	}
	return lastNewline(s.file, from, size)
}

// A lastBytes is a file whose end is in memory.
type lastBytes struct {
	file  *os.File
	from  int64
	bytes []byte
	room  []byte // of the same buffer, for as much again
}

// lastBlockBytes is how much of the end of a file is read at once.
const lastBlockBytes = 4 << 10

// lastOf reads the end of a file of that size. The buffer is given back by done.
func lastOf(f *os.File, size int64) (b *lastBytes, done func()) {
	l := buffers.Get().(*lent)
	b = &lastBytes{file: f, from: max(0, size-lastBlockBytes)}
	n, _ := f.ReadAt(l.buf[:size-b.from], b.from) // who reads what is not there gets the error
	b.bytes, b.room = l.buf[:n], l.buf[lastBlockBytes:2*lastBlockBytes]
	return b, func() { buffers.Put(l) }
}

func (b *lastBytes) ReadAt(p []byte, off int64) (int, error) {
	if off >= b.from && off-b.from+int64(len(p)) <= int64(len(b.bytes)) {
		return copy(p, b.bytes[off-b.from:]), nil
	}
	return b.file.ReadAt(p, off)
}

// regularByStat is regularSize where the system has nothing better.
func regularByStat(f *os.File) (size int64, regular bool, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, false, err
	}
	return info.Size(), info.Mode().IsRegular(), nil
}

// lastNewline returns the offset behind the last newline of the bytes from..to,
// or from when there is none.
func lastNewline(r io.ReaderAt, from, to int64) (int64, error) {
	if to <= from {
		return from, nil
	}
	var last [1]byte
	if n, err := r.ReadAt(last[:], to-1); n == 1 && last[0] == '\n' {
		return to, nil
	} else if n == 0 && err != io.EOF {
		return 0, fmt.Errorf("segment: %w", err)
	}
	block := make([]byte, min(blockBytes, to-from))
	for to > from {
		lo := max(from, to-int64(len(block)))
		n, err := r.ReadAt(block[:to-lo], lo)
		if err != nil && err != io.EOF {
			return 0, fmt.Errorf("segment: %w", err)
		}
		// A short read means that a writer removed a torn tail meanwhile.
		if i := bytes.LastIndexByte(block[:n], '\n'); i >= 0 {
			return lo + int64(i) + 1, nil
		}
		to = lo
	}
	return from, nil
}
