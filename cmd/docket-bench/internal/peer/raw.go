package peer

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/docket-go/docket/cmd/docket-bench/internal/machine"
	"github.com/docket-go/docket/cmd/docket-bench/internal/prose"
)

// rawName is the one file of the raw logs.
const rawName = "log.ndjson"

// raw is the limit: one write into an open file, and where it has to be durable a
// data sync.
type raw struct {
	durability Durability
	mu         sync.Mutex
	file       *os.File
}

// Raw opens a file to write lines to.
func Raw(dir string, d Durability) (Log, error) {
	f, err := openRaw(dir)
	return &raw{durability: d, file: f}, err
}

func openRaw(dir string) (*os.File, error) {
	return os.OpenFile(filepath.Join(dir, rawName), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
}

func (r *raw) Append(n uint64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := r.file.Write(prose.Line(n)); err != nil {
		return err
	}
	if r.durability == Buffered {
		return nil
	}
	return machine.DataSync(r.file)
}

func (r *raw) Count() (int, error) { return CountLines(r.file.Name(), make([]byte, 128<<10)) }
func (r *raw) Close() error        { return r.file.Close() }

// CountLines finds each line of a file.
func CountLines(path string, block []byte) (lines int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for {
		n, err := f.Read(block)
		for rest := block[:n]; ; lines++ {
			i := bytes.IndexByte(rest, '\n')
			if i < 0 {
				break
			}
			rest = rest[i+1:]
		}
		if err == io.EOF {
			return lines, nil
		}
		if err != nil {
			return lines, err
		}
	}
}

// CountLinesBack finds up to n lines of a file from its end.
func CountLinesBack(path string, block []byte, n int) (lines int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	at, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, err
	}
	for at > 0 && lines < n {
		size := min(at, int64(len(block)))
		at -= size
		if _, err := f.ReadAt(block[:size], at); err != nil {
			return lines, err
		}
		for rest := block[:size]; lines < n; lines++ {
			i := bytes.LastIndexByte(rest, '\n')
			if i < 0 {
				break
			}
			rest = rest[:i]
		}
	}
	return lines, nil
}
