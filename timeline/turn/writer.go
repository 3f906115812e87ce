package turn

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/segment"
	"golang.org/x/sync/semaphore"
)

const segmentsDir = "turns"

// Options configures a [Writer]. The zero value is ready to use.
type Options struct {
	// Session is the name that cursors and errors carry. Empty means the base name
	// of the session directory.
	Session string

	// SegmentBytes is the size at which a new segment is started. Zero means 4 MiB; a
	// negative value means that nothing is ever rotated.
	SegmentBytes int64

	// MaxTextBytes bounds each text of an event. Zero means
	// [timeline.DefaultMaxTextBytes]; a negative value means no bound.
	MaxTextBytes int

	// LockWait bounds the wait for the record lock, as [lock.Options] does.
	LockWait time.Duration

	// Buffered leaves the moment of the data sync to the system: events survive the
	// death of the process, not a power cut.
	Buffered bool

	// Now is the clock. Nil means [time.Now].
	Now func() time.Time

	// NewID returns the random part of a turn's id: 1 to 64 ASCII letters and digits.
	// Nil means 80 random bits.
	NewID func() string

	// Barrier clears what belongs to the finished turn that the event names: its
	// permissions, its authorisation. It is called after the event is durable, and
	// before any other turn starts; a turn that it has cleared is never given to it
	// again by the same Writer. A Writer that finds the last turn finished calls it
	// for that turn before the first Start, since nobody knows how far it came: it
	// must be harmless to repeat. It may use the Writer, but must not wait for Start,
	// Ready or Finish. A panic counts as an error. Nil means that there is nothing to
	// clear.
	Barrier func(ctx context.Context, finished Event) error

	// Faulted is called once, when an append failed and so nothing more will be
	// recorded: it must stop the producer. The call that failed returns after it. Nil
	// means that whoever emits sees it by the error alone.
	Faulted func(err error)
}

// An engine is what a Writer needs of a [segment.Log].
type engine interface {
	NextSeq(held *lock.Record) (uint64, error)
	Write(held *lock.Record, lines ...[]byte) (segment.Written, error)
	Sync(w segment.Written) error
	SyncAll() error
	Close() error
}

// A Writer is the one writer of a session's turn log. It is safe for concurrent use.
type Writer struct {
	o      Options
	log    *Log
	locks  *lock.Dir
	held   *lock.Turns
	engine engine

	order    *semaphore.Weighted // held while an event is made and appended
	clearing *semaphore.Weighted // held while the barrier runs
	told     atomic.Bool         // Options.Faulted was called

	mu      sync.Mutex // guards what follows, and the tracks in life
	life    life
	pending *due          // the barrier that is due before the next turn
	durable uint64        // events before this sequence are on stable storage
	changed chan struct{} // closed and replaced when durable or down changes
	down    error         // why nothing is written any more
}

// A due is the barrier of a finished turn that did not complete yet.
type due struct {
	track *track
	place segment.Written // of the Finished event, if this Writer wrote it
}

// Open opens the turn log of the session directory dir, which must exist, for
// writing. It takes the session's turns lock, which the Writer holds until
// [Writer.Close] or the death of the process, and reads the whole log to validate
// it, in bounded memory.
//
// A turn that was left open is still open: see [Writer.Active]. Nothing is
// dispatched or finished by Open.
//
// The error is a [*WriterError] while there is another Writer, an [*InvalidError]
// when the log is not one that can be gone on with, [ErrVersion] when a later version
// made its segments, [timeline.ErrClosed] when there is no such directory,
// [lock.ErrTimeout] for the record lock, which it needs for a moment,
// [lock.ErrUnsupported], [lock.ErrReadOnly], the context's, or wraps one of the system.
// Nothing is held or changed then.
func Open(ctx context.Context, dir string, o Options) (*Writer, error) {
	l, err := Read(dir, ReadOptions{Session: o.Session})
	if err != nil {
		return nil, err
	}
	if l.segments, err = openSegments(l.dir, o); err != nil {
		return nil, l.wrap(err)
	}
	w := &Writer{
		o: o.withDefaults(), log: l, engine: l.segments, changed: make(chan struct{}),
		order: semaphore.NewWeighted(1), clearing: semaphore.NewWeighted(1),
	}
	l.writer = w
	if w.locks, err = lock.Open(l.dir, lock.Options{Wait: o.LockWait}); err != nil {
		return nil, l.wrap(err)
	}
	if w.held, err = w.locks.TryTurns(); err != nil {
		err = errors.Join(err, w.locks.Close())
		if errors.Is(err, lock.ErrBusy) {
			return nil, &WriterError{Session: l.session, Dir: l.dir, Err: err}
		}
		return nil, translated(err)
	}
	if err := w.recover(ctx); err != nil {
		return nil, errors.Join(err, w.release())
	}
	return w, nil
}

func (o Options) withDefaults() Options {
	if o.MaxTextBytes == 0 {
		o.MaxTextBytes = timeline.DefaultMaxTextBytes
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = func() string { return strings.ToLower(rand.Text()[:16]) }
	}
	return o
}

func openSegments(dir string, o Options) (*segment.Log, error) {
	return segment.Open(dir, segment.Options{
		Dir: filepath.Join(dir, segmentsDir), SegmentBytes: o.SegmentBytes,
		MaxLineBytes: -1, // the texts are bounded instead
		Schema:       schema{}, Buffered: o.Buffered, Now: o.Now,
	})
}

// recover builds the life of the log from the files. What a dead writer wrote and
// did not sync is synced before anybody relies on it.
func (w *Writer) recover(ctx context.Context) error {
	v, err := w.log.segments.View(ctx)
	if err != nil {
		return w.log.wrap(err)
	}
	for at, err := range v.Forward(ctx, 0) {
		if err != nil {
			return w.log.wrap(err)
		}
		if at.Header {
			continue
		}
		e, err := w.log.decode(at, v.Epoch())
		if err == nil {
			err = w.life.check(e)
		}
		if err != nil {
			return w.log.invalid(at, err)
		}
		w.life.add(e)
	}
	if err := w.engine.SyncAll(); err != nil {
		return w.log.wrap(err)
	}
	if err := w.agree(ctx); err != nil {
		return err
	}
	w.durable = w.life.next
	if t := w.life.last; t != nil && t.finished != nil {
		w.pending = &due{track: t}
	}
	return nil
}

// agree returns nil if the engine would append where the life ends. It will not append
// to a segment that a later version made.
func (w *Writer) agree(ctx context.Context) error {
	held, err := w.locks.Record(ctx)
	if err != nil {
		return translated(err)
	}
	next, err := w.engine.NextSeq(held)
	if err == nil && next != w.life.next {
		err = fmt.Errorf("%w: the log ends at event %d, and %d were read", ErrWriter, next, w.life.next)
	}
	return w.log.wrap(errors.Join(err, held.Release()))
}

// Log returns the log for reading beside the Writer. Its readers see an event once
// it is durable, and its followers are told of it without a look at the file system;
// they end with [ErrFaulted] when an append failed, and with [ErrWriterClosed]. That
// the session is gone they learn by the next append.
func (w *Writer) Log() *Log { return w.log }

// Active returns the turn that is open, if one is: after Open, the one that the
// last writer left. Ask its producer to go on behind [Turn.Broker]; if that is gone,
// finish the turn with [Interrupted] and [CodeRuntimeRestart]. Never dispatch it
// again.
func (w *Writer) Active() (*Turn, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.turn(w.life.open())
}

// Last returns the turn that started last, open or finished, if there is one.
func (w *Writer) Last() (*Turn, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.turn(w.life.last)
}

func (w *Writer) turn(t *track) (*Turn, bool) {
	if t == nil {
		return nil, false
	}
	return &Turn{w, t}, true
}

// State returns what the latest [State] of each name says.
func (w *Writer) State() map[string]string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.life.state()
}

// Err returns why nothing can be written any more: [ErrFaulted] or
// [ErrWriterClosed]. It is nil while the Writer works.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.down
}

// Close gives the log to the next writer. A turn that is open stays open, and the
// next writer finds it. An append that is under way is waited for. Calling Close
// again does nothing.
func (w *Writer) Close() error {
	if err := w.order.Acquire(context.Background(), 1); err != nil {
		return err
	}
	defer w.order.Release(1)
	w.mu.Lock()
	if !errors.Is(w.down, ErrFaulted) {
		w.down = fmt.Errorf("session %s: %w", w.log.session, ErrWriterClosed)
	}
	w.broadcast()
	w.mu.Unlock()
	return w.release()
}

func (w *Writer) release() error {
	return w.log.wrap(errors.Join(w.engine.Close(), w.held.Release(), w.locks.Close()))
}

// broadcast wakes the followers of the Writer's log. The caller holds mu.
func (w *Writer) broadcast() {
	close(w.changed)
	w.changed = make(chan struct{})
}
