package segment

import (
	"context"
	"iter"
)

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
	return func(yield func(Fault, error) bool) { yield(Fault{}, errMissing) }
}
