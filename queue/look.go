package queue

import (
	"hash/maphash"
	"sync/atomic"

	"github.com/docket-go/docket/lock"
)

// While a hold of the record lock lasts, only those who share it change the files, and
// all of them are in this process. Here every handle counts what it changes, so that
// the others see it. Directories may share a count; that costs them a look.
var counts [256]atomic.Uint64

var seed = maphash.MakeSeed()

func countOf(dir string) *atomic.Uint64 {
	return &counts[maphash.String(seed, dir)%uint64(len(counts))]
}

// A look is a moment in a hold. What was found in the files then is so still in every
// later moment that is the same look.
type look struct {
	held    *lock.Record
	changes uint64
}

func (q *Queue) look(held *lock.Record) look { return look{held, q.changes.Load()} }
