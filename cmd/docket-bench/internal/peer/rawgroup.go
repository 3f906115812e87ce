package peer

import (
	"os"
	"sync"

	"github.com/docket-go/docket/cmd/docket-bench/internal/machine"
	"github.com/docket-go/docket/cmd/docket-bench/internal/prose"
)

// group is the limit for many writers in one process: whoever finds no sync under
// way makes one for all that was written so far, and the others wait for it.
type group struct {
	raw
	moved   sync.Cond // synced or leading changed
	leading bool
	written uint64
	synced  uint64
	failed  error
}

// RawGroup opens a file to which many goroutines write lines with shared syncs.
func RawGroup(dir string, d Durability) (Log, error) {
	f, err := openRaw(dir)
	g := &group{raw: raw{durability: d, file: f}}
	g.moved.L = &g.mu
	return g, err
}

func (g *group) Append(n uint64) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, err := g.file.Write(prose.Line(n)); err != nil {
		return err
	}
	g.written++
	for mine := g.written; g.synced < mine && g.failed == nil; {
		if g.leading {
			g.moved.Wait()
			continue
		}
		g.lead(g.file)
	}
	return g.failed
}

// lead syncs everything that was written so far, while others go on writing.
func (g *group) lead(f *os.File) {
	g.leading = true
	upTo := g.written
	g.mu.Unlock()
	err := machine.DataSync(f)
	g.mu.Lock()
	g.leading, g.failed = false, err
	if err == nil {
		g.synced = upTo
	}
	g.moved.Broadcast()
}
