package peer

import (
	"path/filepath"
	"sync"

	"github.com/tidwall/wal"

	"github.com/docket-go/docket/cmd/docket-bench/internal/prose"
)

// tidwall is a log of tidwall/wal, whose writer has to number the messages.
type tidwall struct {
	mu   sync.Mutex
	log  *wal.Log
	last uint64
}

// WAL opens a log of github.com/tidwall/wal.
func WAL(dir string, d Durability) (Log, error) {
	o := *wal.DefaultOptions
	o.NoSync = d == Buffered
	l, err := wal.Open(filepath.Join(dir, "wal"), &o)
	return &tidwall{log: l}, err
}

func (t *tidwall) Append(n uint64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last++
	return t.log.Write(t.last, prose.Line(n))
}

func (t *tidwall) Count() (int, error) {
	last, err := t.log.LastIndex()
	if err != nil {
		return 0, err
	}
	n := 0
	for i := uint64(1); i <= last; i++ {
		if _, err := t.log.Read(i); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

func (t *tidwall) Close() error { return t.log.Close() }
