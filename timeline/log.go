package timeline

import (
	"context"
	"errors"
	"time"

	"github.com/docket-go/docket/lock"
)

// DefaultMaxTextBytes bounds one text when [Options] does not say otherwise.
const DefaultMaxTextBytes = 8 << 20

// Options configures a [Log]. The zero value is ready to use.
type Options struct {
	// Session is the name that cursors carry. Empty means the base name of the
	// session directory.
	Session string
	// SegmentBytes is the size at which a new segment is started. Zero means 4
	// MiB; a negative value means that nothing is ever rotated.
	SegmentBytes int64
	// MaxTextBytes bounds each text and note. Zero means [DefaultMaxTextBytes]; a
	// negative value means no bound.
	MaxTextBytes int
	// Buffered makes [Log.Commit] return without a sync: what was written survives
	// the death of the process, but not a power cut.
	Buffered bool
	// Now is the clock for entries without a time. Nil means [time.Now].
	Now func() time.Time
	// LockWait bounds the wait of [Log.Append] for the record lock, as
	// [lock.Options] does. It is not used when Locks is given.
	LockWait time.Duration
	// Locks are the session's locks, if the caller has them open already. Nil
	// means that the Log opens its own and closes them in [Log.Close].
	Locks *lock.Dir
}

// A Log is the timeline of one session. It is safe for concurrent use, and any
// number of Logs in any number of processes may work on one session.
type Log struct {
	dir     string
	session string
	maxText int
	now     func() time.Time
	locks   *lock.Dir
}

// Written says where [Log.Write] put its entries.
type Written struct {
	First, Next       Cursor // before the first public entry, and after the last
	FirstSeq, NextSeq uint64 // the same as sequences
}

var errSkeleton = errors.ErrUnsupported

// Open prepares the log of the session directory dir, which must exist. Nothing
// is created, locked or read yet. The error is [ErrClosed] when there is no such
// directory.
func Open(dir string, o Options) (*Log, error) { return nil, errSkeleton }

// Close gives back the open files. Iterators that still run end with an error.
func (l *Log) Close() error { return errSkeleton }

// Session returns the name of the session.
func (l *Log) Session() string { return l.session }

// Write stores the entries, in this order and with one write, at the end of the
// log. The caller holds the session's record lock. What was written is visible
// to readers at once and survives the death of the process, but it is accepted
// only when [Log.Commit] has returned nil for it, which the caller does after
// the lock is released.
//
// The error is [lock.ErrNotHeld], [ErrText], a [*TooLargeError] or [ErrEntry]
// before anything is written. After any other error, which is one of the file
// system, the log is as it was before, or ends in an unterminated piece that no
// reader shows and the next write removes.
func (l *Log) Write(held *lock.Record, entries ...Entry) (Written, error) {
	return Written{}, errSkeleton
}

// Commit returns nil once everything that the Write of w stored is on stable
// storage. Concurrent callers share one sync. With [Options.Buffered] it does
// nothing. After an error it is not known what a power cut would leave, and this
// Log refuses to write from then on.
func (l *Log) Commit(w Written) error { return errSkeleton }

// Append is [Log.Write] under the record lock, followed by [Log.Commit] after it.
// Nil means accepted. Errors are theirs and those of [lock.Dir.Record].
func (l *Log) Append(ctx context.Context, entries ...Entry) (Written, error) {
	return Written{}, errSkeleton
}

// SyncAll returns nil once everything that any process wrote before the call is
// on stable storage.
func (l *Log) SyncAll(ctx context.Context) error { return errSkeleton }

// NextSeq returns the sequence that the next public entry will get. The caller
// holds the record lock, so that it stays true until it writes.
func (l *Log) NextSeq(held *lock.Record) (uint64, error) { return 0, errSkeleton }

// Start returns the cursor before the first event.
func (l *Log) Start(ctx context.Context) (Cursor, error) { return Cursor{}, errSkeleton }

// End returns the cursor after the last event.
func (l *Log) End(ctx context.Context) (Cursor, error) { return Cursor{}, errSkeleton }

// CursorAt returns the cursor before the event with the sequence seq. The error
// is [ErrFutureCursor] when the log has fewer events.
func (l *Log) CursorAt(ctx context.Context, seq uint64) (Cursor, error) {
	return Cursor{}, errSkeleton
}
