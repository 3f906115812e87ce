package segment

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"time"

	"github.com/docket-go/docket/lock"
)

// A Schema tells the engine what the lines of a log mean. Its methods are called
// from many goroutines at once, and must neither keep nor change the bytes they
// are given.
type Schema interface {
	// Classify must answer the same for the same bytes always, with or without the
	// seq field that the engine adds at the end. Bytes that are not a whole line
	// of this log are Unreadable; it must not panic on any bytes.
	Classify(line []byte) Class

	// Key must return the 32-byte digest by which [Log.FindKey] finds the line, and
	// false for a line without one.
	Key(line []byte) (digest []byte, ok bool)

	// Fold must return a fold that goes on from the given facts, which an earlier
	// fold returned; nil means from the start of the log.
	Fold(facts json.RawMessage) Fold
}

// A Fold keeps what a derived read would otherwise scan the whole log for. The
// engine stores its result in the header of each segment.
type Fold interface {
	// Add takes the next line in log order. Headers and unreadable lines are left
	// out. The bytes are valid during the call only.
	Add(line Line)

	// Facts must return one JSON value without line breaks, of bounded size. It is
	// asked once, after the last Add.
	Facts() json.RawMessage
}

// Options configures a [Log]. Dir and Schema are needed; the rest is ready to
// use as zero.
type Options struct {
	// Dir is the directory of the numbered segments. It is made by the first Write.
	Dir string

	// Legacy is the path of a first segment that is read and never written. Empty
	// means that there is none; the file need not exist.
	Legacy string

	// SegmentBytes is the size at which the writer opens the next segment. Zero
	// means 4 MiB; a negative value means no bound.
	SegmentBytes int64

	// MaxLineBytes is the size of the largest line that Write accepts. Zero means
	// 64 MiB; a negative value means no bound.
	MaxLineBytes int64

	Schema Schema

	// Buffered leaves the moment of the data sync to the system: Sync and SyncAll do
	// nothing. Lines then survive the death of the process, not of the machine.
	Buffered bool

	// Now is the clock for the time in headers. Nil means time.Now.
	Now func() time.Time
}

// A Log is a handle on one log. It is safe for concurrent use, and any number of
// handles in any number of processes may be open on the same log.
type Log struct {
	lockDir string
	o       Options
}

// Open returns a handle on the log of the session directory lockDir, whose record
// lock covers the writes. Nothing is read or made yet.
func Open(lockDir string, o Options) (*Log, error) { return &Log{lockDir: lockDir, o: o}, nil }

// Close gives back the descriptor of a handle that has written. The handle can be
// used again afterwards.
func (l *Log) Close() error { return nil }

// Written says where the lines of one Write are.
type Written struct {
	First uint64 // the public sequence before the first line
	Next  uint64 // the public sequence after the last line

	segment    uint64
	start, end int64
}

// Write appends the lines in one write and returns without waiting for stable
// storage; see [Log.Sync]. Each line is one JSON object without newline; the
// engine adds the seq field. The caller holds the record lock of the session.
//
// Before it appends, Write removes what a dead writer left behind the last
// newline, and opens the next segment when the current one is full.
//
// A nil error means that the lines are in the file, whole, in order, and seen by
// every reader. After an error nothing of them is: [lock.ErrNotHeld], [ErrLine],
// [*TooLargeError], [ErrFaulted], [ErrFull], [ErrClosed], [ErrVersion] or a
// wrapped system error. If the process dies inside, the first of the lines may be
// there whole and one may be torn; the torn one is never seen.
func (l *Log) Write(held *lock.Record, lines ...[]byte) (Written, error) {
	return Written{}, errSkeleton
}

// NextSeq returns the public sequence that the next public line will get. The
// caller holds the record lock of the session.
func (l *Log) NextSeq(held *lock.Record) (uint64, error) { return 0, errSkeleton }

// Sync returns once the lines of w are on stable storage. Calls at the same time
// share one data sync. No lock is needed, and none should be held. An error is
// [ErrFaulted]: nobody knows then what of them is on the disk, and the handle
// refuses everything from there on.
func (l *Log) Sync(w Written) error { return errSkeleton }

// SyncAll returns once everything that any process wrote before the call is on
// stable storage. What this handle synced already costs only a look.
func (l *Log) SyncAll() error { return errSkeleton }

// An Epoch names one life of one log. The zero Epoch is that of an empty log.
type Epoch [16]byte

// A View is the log as it was at one moment. It holds no file open.
type View struct{}

// View looks at the log as it is now. The error is [ErrClosed] when the session
// directory is gone. A log that was never written is empty, not an error.
func (l *Log) View(ctx context.Context) (*View, error) { return nil, errSkeleton }

// Epoch returns the log's epoch.
func (v *View) Epoch() Epoch { return Epoch{} }

// End returns the number of public lines, which is the sequence of the next one.
func (v *View) End() uint64 { return 0 }

// Facts is what the newest header in a view says about all lines before it.
type Facts struct {
	Facts   json.RawMessage // nil when there is no header, or it holds none
	Segment uint64          // fold the lines of this segment and later ones on top
}

// Facts returns the facts of the newest header. Without any header the facts are
// nil and Segment is zero.
func (v *View) Facts(ctx context.Context) (Facts, error) { return Facts{}, errSkeleton }

// Backward yields the lines of the view, newest first, headers included. It reads
// only what is asked for. After an error it ends; damaged lines are no errors.
func (v *View) Backward(ctx context.Context) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) { yield(Line{}, errSkeleton) }
}

// Forward yields the lines of the view from the start of the given segment to the
// end, headers included. Zero means the start of the log.
func (v *View) Forward(ctx context.Context, segment uint64) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) { yield(Line{}, errSkeleton) }
}

// A Reader reads a log forward and can go on when it has grown. It is used by one
// goroutine at a time and takes no lock.
type Reader struct{}

// Reader returns a reader before the public line with sequence from. The error is
// [ErrFuture] when from lies behind the end of the log. [Reader.Next] may yield
// private lines first.
func (l *Log) Reader(ctx context.Context, from uint64) (*Reader, error) { return nil, errSkeleton }

// Next returns the next committed line, headers included. The error is io.EOF at
// the committed end; Next may be called again later and goes on there, through
// rotation and sealing. A damaged line is returned as a line with Class
// Unreadable. Other errors are [ErrClosed], [ErrCorrupt] (the file is shorter than
// what was read from it), the context's, or a wrapped system error; the position
// is kept.
func (r *Reader) Next(ctx context.Context) (Line, error) { return Line{}, errSkeleton }

// Seq returns the sequence of the next public line.
func (r *Reader) Seq() uint64 { return 0 }

// Epoch returns the epoch of the log that the reader is in. It is zero while the
// log is empty.
func (r *Reader) Epoch() Epoch { return Epoch{} }

// Close gives back the reader's descriptor.
func (r *Reader) Close() error { return nil }

// FindKey yields the lines whose [Schema.Key] is digest, newest first. Segments
// whose filter excludes the digest are not opened.
func (l *Log) FindKey(ctx context.Context, digest []byte) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) { yield(Line{}, errSkeleton) }
}

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
