package turn

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/segment"
)

// ReadOptions configures a [Log]. The zero value is ready to use.
type ReadOptions struct {
	// Session is the name that cursors and errors carry, as in [Options]. Empty means
	// the base name of the session directory.
	Session string

	// Poll is how often the log is looked at where the operating system gives no
	// notification. Zero means 250 ms; a negative value means -Poll, and that no
	// notification is asked for. Followers of [Writer.Log] do not need it.
	Poll time.Duration
}

// A Log is the turn log of a session for reading. It needs nothing but the files,
// holds nothing that a writer waits for, and is safe for concurrent use.
type Log struct {
	dir      string
	session  string
	poll     time.Duration
	segments *segment.Log
	writer   *Writer // nil: whoever writes is not known
}

// Read prepares the turn log of the session directory dir for reading; the session
// may have had no turn yet. Nothing is created, locked or read. The error is
// [timeline.ErrClosed] when there is no such directory.
func Read(dir string, o ReadOptions) (*Log, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("turn: %s: %w", dir, err)
	}
	l := &Log{dir: path, session: o.Session, poll: o.Poll}
	if l.session == "" {
		l.session = filepath.Base(path)
	}
	if _, err := lock.Open(path, lock.Options{}); err != nil { // only looks
		return nil, l.wrap(err)
	}
	l.segments, err = openSegments(path, Options{})
	return l, l.wrap(err)
}

// Session returns the name of the session.
func (l *Log) Session() string { return l.session }

// Start returns the cursor before the first event.
func (l *Log) Start(ctx context.Context) (timeline.Cursor, error) {
	v, err := l.segments.View(ctx)
	if err != nil {
		return timeline.Cursor{}, l.wrap(err)
	}
	return l.cursor(v.Epoch(), 0), nil
}

// End returns the cursor behind the last event.
func (l *Log) End(ctx context.Context) (timeline.Cursor, error) {
	v, err := l.segments.View(ctx)
	if err != nil {
		return timeline.Cursor{}, l.wrap(err)
	}
	return l.cursor(v.Epoch(), l.until(v)), nil
}

// until returns the sequence at which the part of the log ends that may be shown.
func (l *Log) until(v *segment.View) uint64 {
	end, _, _ := l.horizon()
	return min(end, v.End())
}

func (l *Log) cursor(e segment.Epoch, seq uint64) timeline.Cursor {
	return timeline.NewCursor(l.session, e, seq)
}

// decode returns the event of a line, as readers see it but with its token.
func (l *Log) decode(at segment.Line, epoch segment.Epoch) (Event, error) {
	if at.Class != segment.Public {
		var damage *segment.CorruptError
		if errors.As(at.Err, &damage) {
			return Event{}, fmt.Errorf("%w: %w", ErrInvalid, damage.Err)
		}
		return Event{}, fmt.Errorf("%w: %w", ErrInvalid, errNotEvent)
	}
	e, err := decode(at.Bytes)
	if err != nil {
		return Event{}, err
	}
	e.Seq, e.Next = at.Seq, l.cursor(epoch, at.Seq+1)
	return e, nil
}

// invalid says where the log is not one.
func (l *Log) invalid(at segment.Line, err error) error {
	e := &InvalidError{Session: l.session, Offset: at.Offset, Seq: at.Seq, Err: err}
	e.Path = filepath.Join(l.dir, segmentsDir, fmt.Sprintf("%012d.ndjson", at.Segment))
	if _, err := os.Lstat(e.Path); err != nil {
		e.Path += ".zst" // sealed
	}
	var damage *segment.CorruptError
	if errors.As(at.Err, &damage) {
		e.Path, e.Offset = damage.Path, damage.Offset
	}
	return e
}

// wrap names the session in an error; those of package lock name it themselves.
func (l *Log) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("session %s: %w", l.session, translated(err))
}

// translated says by the sentinels that a caller knows what the packages below say by
// theirs.
func translated(err error) error {
	for _, s := range [...]struct{ below, here error }{
		{segment.ErrClosed, timeline.ErrClosed}, {lock.ErrClosed, timeline.ErrClosed},
		{segment.ErrFuture, timeline.ErrFutureCursor}, {segment.ErrVersion, ErrVersion},
	} {
		if errors.Is(err, s.below) {
			return fmt.Errorf("%w: %w", s.here, err)
		}
	}
	return err
}
