package timeline

import (
	"context"

	"github.com/docket-go/docket/timeline/segment"
)

// A Sealed says what [Log.Seal] did to one segment.
type Sealed = segment.Sealed

// A Fault is one thing that [Log.Verify] found.
type Fault = segment.Fault

// Seal compresses every segment that is not written any more and is not
// compressed yet. Readers and cursors notice nothing. After an error the segment
// that it names is as it was, and those before it are sealed and returned. If the
// process dies inside, one complete copy of each segment is there.
func (l *Log) Seal(ctx context.Context) ([]Sealed, error) {
	done, err := l.segments.Seal(ctx, l.locks)
	return done, l.wrap(err)
}

// Verify reads the whole log, follows the chain of digests in the segments'
// headers, and names everything that is not as it should be. It takes no lock. An
// error means that the log could not be read to the end.
func (l *Log) Verify(ctx context.Context) ([]Fault, error) {
	var faults []Fault
	for f, err := range l.segments.Verify(ctx) {
		if err != nil {
			return faults, l.wrap(err)
		}
		faults = append(faults, f)
	}
	return faults, nil
}
