package timeline

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/timeline/segment"
)

const (
	segmentsDir = "timeline"
	legacyFile  = "timeline.ndjson"
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
	dir      string
	session  string
	maxText  int
	now      func() time.Time
	segments *segment.Log
	locks    *lock.Dir
	ownLocks bool

	debtsAtOnce int

	lastHuman lastHuman
	together  together
}

// Open prepares the log of the session directory dir, which must exist. Nothing
// is created, locked or read yet. The error is [ErrClosed] when there is no such
// directory.
func Open(dir string, o Options) (*Log, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("timeline: %s: %w", dir, err)
	}
	l := &Log{dir: path, session: o.Session, maxText: o.MaxTextBytes, now: o.Now, locks: o.Locks, debtsAtOnce: debtsAtOnce}
	if l.session == "" {
		l.session = filepath.Base(path)
	}
	if l.maxText == 0 {
		l.maxText = DefaultMaxTextBytes
	}
	if l.now == nil {
		l.now = time.Now
	}
	if l.locks == nil {
		l.ownLocks = true
		if l.locks, err = lock.Open(path, lock.Options{Wait: o.LockWait}); err != nil {
			return nil, closed(err)
		}
	}
	l.segments, err = segment.Open(path, segment.Options{
		Dir: SegmentsDir(path), Legacy: path + string(filepath.Separator) + legacyFile,
		SegmentBytes: o.SegmentBytes, MaxLineBytes: -1, // the texts are bounded instead
		Schema: schema{}, Encoded: true, Buffered: o.Buffered, Now: o.Now,
	})
	if err != nil {
		return nil, l.wrap(err)
	}
	return l, nil
}

// Close gives back the open files. Readers and followers keep their own and are
// not disturbed. The Log can be used again afterwards.
func (l *Log) Close() error {
	err := l.segments.Close()
	if l.ownLocks {
		err = errors.Join(err, l.locks.Close())
	}
	return l.wrap(err)
}

// Session returns the name of the session.
func (l *Log) Session() string { return l.session }

// closed says by this package's sentinel what lock says by its own. The errors of
// lock name the session themselves.
func closed(err error) error {
	if errors.Is(err, lock.ErrClosed) {
		return fmt.Errorf("%w: %w", ErrClosed, err)
	}
	return err
}

// wrap names the session in an error, and says by this package's sentinels what
// package segment says by its own.
func (l *Log) wrap(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, segment.ErrClosed), errors.Is(err, lock.ErrClosed):
		return fmt.Errorf("session %s: %w: %w", l.session, ErrClosed, err)
	case errors.Is(err, segment.ErrFuture):
		return fmt.Errorf("session %s: %w: %w", l.session, ErrFutureCursor, err)
	case errors.Is(err, segment.ErrCorrupt):
		return fmt.Errorf("session %s: %w: %w", l.session, ErrCorrupt, err)
	}
	return fmt.Errorf("session %s: %w", l.session, err)
}
