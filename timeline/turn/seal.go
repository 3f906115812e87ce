package turn

import (
	"context"
	"errors"
	"iter"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/timeline/segment"
)

// Seal compresses every segment but the newest. No reader's result changes, and
// cursors stay valid. It may run beside a Writer, in any process; errors and crashes
// are those of [segment.Log.Seal].
func (l *Log) Seal(ctx context.Context) ([]segment.Sealed, error) {
	locks, err := lock.Open(l.dir, lock.Options{})
	if err != nil {
		return nil, l.wrap(err)
	}
	sealed, err := l.segments.Seal(ctx, locks)
	return sealed, l.wrap(errors.Join(err, locks.Close()))
}

// Verify reads the whole log and yields what is wrong with its files: damage, missing
// segments, a broken chain. It needs no lock and a bounded amount of memory. What the
// events say is checked by [Open].
func (l *Log) Verify(ctx context.Context) iter.Seq2[segment.Fault, error] {
	return func(yield func(segment.Fault, error) bool) {
		for f, err := range l.segments.Verify(ctx) {
			if !yield(f, l.wrap(err)) {
				return
			}
		}
	}
}
