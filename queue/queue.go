package queue

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/docket-go/docket/lock"
)

const (
	listFile  = "pending.json"
	claimFile = "pending.head"
	newSuffix = ".new"
)

// Options configures a [Queue]. The zero value is ready to use.
type Options struct {
	// MaxPending bounds the entries a queue may hold; Reserve and Enqueue return
	// [ErrFull] beyond it. Zero or less means no bound. With a bound, a change by
	// another handle costs the next Enqueue a count of the file.
	MaxPending int

	// Locks are the locks of the session directory, shared with whoever else works
	// on it. Nil means that the queue opens its own.
	Locks *lock.Dir

	// Now is the clock. Nil means time.Now.
	Now func() time.Time
}

// A Queue is a handle on the queue of one session directory. It is safe for
// concurrent use; any number of handles in any number of processes may work on
// one directory.
type Queue struct {
	dir      string
	path     string // of the list
	locks    *lock.Dir
	ownLocks bool
	max      int
	now      func() time.Time
	changes  *atomic.Uint64 // of the directory's files, by this process

	// What tests replace.
	disk      disk
	patience  time.Duration
	compactAt int64
	spareAt   int64
	readBytes int // how much of a file that is read from start to end is in memory, beside an entry

	mu     sync.Mutex // guards what follows, for callers that hold the record lock
	known  sheet
	staged *staged
	heads  heads

	spare spare
}

// Open returns a handle on the queue of the session directory dir. It reads and
// creates nothing. The error is [lock.ErrClosed] when there is no such directory.
func Open(dir string, o Options) (*Queue, error) {
	q := &Queue{
		locks: o.Locks, max: o.MaxPending, now: o.Now,
		disk: realDisk, patience: listPatience, compactAt: compactBytes, spareAt: spareBytes, readBytes: wholeBytes,
	}
	if q.now == nil {
		q.now = time.Now
	}
	if q.locks == nil {
		locks, err := lock.Open(dir, lock.Options{})
		if err != nil {
			return nil, err
		}
		q.locks, q.ownLocks = locks, true
	}
	q.dir = q.locks.Path()
	if abs, err := filepath.Abs(dir); err != nil || abs != q.dir {
		return nil, errors.Join(fmt.Errorf("queue: %s: the locks are those of %s", dir, q.dir), err)
	}
	q.changes = countOf(q.dir)
	q.path = filepath.Join(q.dir, listFile)
	q.heads.path = filepath.Join(q.dir, claimFile)
	return q, nil
}

// Locks returns the locks of the session directory.
func (q *Queue) Locks() *lock.Dir { return q.locks }

// Close gives back the handle's descriptors; the queue itself stays as it is, and the
// handle can be used again afterwards. No lock that was taken through [Queue.Locks] may
// be held.
func (q *Queue) Close() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.unstage()
	q.forget()
	q.dropSpare()
	q.heads.forget()
	if q.ownLocks {
		return q.locks.Close()
	}
	return nil
}
