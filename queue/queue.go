package queue

import (
	"context"
	"time"

	"github.com/docket-go/docket/lock"
)

// Options configures a [Queue]. The zero value is ready to use.
type Options struct {
	// MaxPending bounds the entries a queue may hold; Reserve and Enqueue return
	// [ErrFull] beyond it. Zero or less means no bound. A bound costs a count of
	// the file after each change by another handle.
	MaxPending int

	// Locks are the locks of the session directory, shared with other packages.
	// Nil means that the queue opens its own.
	Locks *lock.Dir

	// Now is the clock. Nil means time.Now.
	Now func() time.Time
}

// A Queue is a handle on the queue of one session directory. It is safe for
// concurrent use; any number of handles in any number of processes may work on
// one directory.
type Queue struct {
	locks *lock.Dir
}

// Open returns a handle on the queue of the session directory dir. It reads and
// creates nothing. The error is [lock.ErrClosed] when there is no such directory.
func Open(dir string, o Options) (*Queue, error) { return nil, nil }

// Close gives back the handle's descriptors. The handle may be used again.
func (q *Queue) Close() error { return nil }

// Locks returns the locks of the session directory.
func (q *Queue) Locks() *lock.Dir { return q.locks }

// Owed reports whether anything is owed. It costs one stat and takes no lock.
func (q *Queue) Owed() (bool, error) { return false, nil }

// Len counts the entries. It takes no lock. Errors are as for [Queue.List].
func (q *Queue) Len() (int, error) { return 0, nil }

// List returns what is owed, oldest first. It takes no lock.
func (q *Queue) List() ([]Entry, error) { return nil, nil }

// Head returns the oldest entry, and false if nothing is owed.
func (q *Queue) Head(held *lock.Record) (Entry, bool, error) { return Entry{}, false, nil }

// Reserve checks that e can be enqueued and sees to it that it will fit.
func (q *Queue) Reserve(held *lock.Record, e Entry) error { return nil }

// Enqueue adds e behind everything that is owed.
func (q *Queue) Enqueue(held *lock.Record, e Entry) error { return nil }

// Remove takes entries out, wherever they stand: all of them, or none and
// [ErrNotPending].
func (q *Queue) Remove(held *lock.Record, mids ...string) error { return nil }

// Claim notes that a hand-over of the oldest entry begins.
func (q *Queue) Claim(held *lock.Record, mid string) error { return nil }

// Refused notes that nothing of the oldest entry reached the harness.
func (q *Queue) Refused(held *lock.Record, mid, reason string) error { return nil }

// Unconfirmed notes that the oldest entry may have reached the harness.
func (q *Queue) Unconfirmed(held *lock.Record, mid, reason string) error { return nil }

// Unclaim takes the claim of the oldest entry back.
func (q *Queue) Unclaim(held *lock.Record, mid string) error { return nil }

// A FaultKind says what is wrong with a part of the file.
type FaultKind int

// The kinds of faults, from harmless to grave.
const (
	TornTail FaultKind = iota // an enqueue was interrupted
	TornHead                  // a removal of the oldest entry was interrupted
	Damaged                   // something that no edit of this package leaves
)

// A Fault is a part of the file that is no entry.
type Fault struct {
	Kind   FaultKind
	Offset int64
	Length int64
	Bare   bool // only separators: no message is in doubt
	Err    error
}

// An Inspection is what can be read of a file, and what cannot.
type Inspection struct {
	Exists  bool
	Entries []Entry // those that can be read, in order
	Faults  []Fault // in order; none if the file is as it should be
}

// Err returns nil if the file has no fault, and otherwise a [*CorruptError].
func (i Inspection) Err() error { return nil }

// Inspect reads the file once and tells entries from faults. The caller holds the
// record lock, or sees what a live writer is in the middle of.
func (q *Queue) Inspect() (Inspection, error) { return Inspection{}, nil }

// Rebuild replaces the file by one that holds entries; aside is where a damaged
// file was copied to.
func (q *Queue) Rebuild(held *lock.Record, entries []Entry) (aside string, err error) {
	return "", nil
}

// Drain makes one delivery pass.
func (q *Queue) Drain(ctx context.Context, held *lock.Delivery, h Handover) (Drained, error) {
	return Drained{}, nil
}
