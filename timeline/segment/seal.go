package segment

import (
	"context"
	"errors"
	"iter"

	"github.com/docket-go/docket/lock"
)

// Sealed says what sealing did to one segment.
type Sealed struct {
	Segment    uint64
	Path       string
	PlainBytes int64
	Bytes      int64
}

// Seal compresses every segment but the highest. It works without a lock and takes
// the record lock from locks only to exchange the files. An error leaves the
// segment it names as it was; those before it are sealed and returned.
func (l *Log) Seal(ctx context.Context, locks *lock.Dir) ([]Sealed, error) { return nil, errSkeleton }

// A Severity says how bad a [Fault] is.
type Severity int

const (
	// Note is what the next writer repairs, or what costs nothing.
	Note Severity = iota
	// Damage is lost or changed data.
	Damage
)

// A Fault is one thing that [Log.Verify] found.
type Fault struct {
	Path     string
	Segment  uint64
	Offset   int64 // in the uncompressed segment
	Severity Severity
	Err      error
}

// Verify reads the whole log and yields everything that is not as it should be. It
// needs no lock and a bounded amount of memory. The second value is an error
// that ended the reading.
func (l *Log) Verify(ctx context.Context) iter.Seq2[Fault, error] {
	return func(yield func(Fault, error) bool) { yield(Fault{}, errSkeleton) }
}

var errSkeleton = errors.New("segment: not written yet")
