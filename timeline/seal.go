package timeline

import "context"

// A Sealed is one segment that [Log.Seal] compressed.
type Sealed struct {
	Path        string // the compressed file
	Segment     uint64
	PlainBytes  int64
	SealedBytes int64
}

// A Fault is one thing that [Log.Verify] found.
type Fault struct {
	Path   string
	Offset int64
	Err    error
}

// Seal compresses every segment that is not written any more and is not
// compressed yet. Readers and cursors notice nothing. If the process dies inside,
// one complete copy of each segment is there.
func (l *Log) Seal(ctx context.Context) ([]Sealed, error) { return nil, errSkeleton }

// Verify reads the whole log and follows the chain of digests in the segments'
// headers. A fault is something in the log; an error means that it could not be
// read.
func (l *Log) Verify(ctx context.Context) ([]Fault, error) { return nil, errSkeleton }
