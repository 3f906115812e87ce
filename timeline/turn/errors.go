package turn

import (
	"errors"
	"fmt"
)

var (
	// ErrWriter is what a [*WriterError] is.
	ErrWriter = errors.New("turn: the log has another writer")

	// ErrInvalid is what an [*InvalidError] is.
	ErrInvalid = errors.New("turn: not a valid turn log")

	// ErrVersion is the cause of an [*InvalidError] about an event that a later version
	// of this format has, and is returned by [Open] for segments of such a version.
	ErrVersion = errors.New("turn: written by a later version of docket")

	// ErrKind is the cause of an [*InvalidError] about an event of a kind that this
	// version does not have.
	ErrKind = errors.New("turn: event of an unknown kind")

	// ErrActive is what an [*ActiveError] is.
	ErrActive = errors.New("turn: a turn is open")

	// ErrBarrier is what a [*BarrierError] is.
	ErrBarrier = errors.New("turn: the completion barrier failed")

	// ErrFinished is returned for an emission on a turn that is finished. Nothing was
	// written, and it is never given to another turn.
	ErrFinished = errors.New("turn: the turn is finished")

	// ErrTerminalConflict is what a [*TerminalConflictError] is.
	ErrTerminalConflict = errors.New("turn: finished already with another outcome")

	// ErrReplayed is returned for an emission whose broker sequence the turn's log
	// already passed: a replay of what was committed, or ignored, before. Nothing was
	// written, and nothing is missing; go on with the next.
	ErrReplayed = errors.New("turn: emission was replayed")

	// ErrFaulted is returned by every writing call after one append failed. It wraps
	// the cause. See [Options.Faulted].
	ErrFaulted = errors.New("turn: an append failed")

	// ErrWriterClosed is returned by a [Writer] after its Close, and ends the followers
	// of its [Writer.Log].
	ErrWriterClosed = errors.New("turn: the writer is closed")

	// ErrText is returned for text that is not valid UTF-8. Nothing was written.
	ErrText = errors.New("turn: text is not valid UTF-8")

	// ErrEvent is returned for an event that lacks what it must have, or has a value
	// that its vocabulary does not have. Nothing was written.
	ErrEvent = errors.New("turn: event cannot be stored")
)

// A WriterError says that another [Writer] is open on the session's turn log, in
// this process or another. It is [ErrWriter] to errors.Is.
type WriterError struct {
	Session string
	Dir     string // the session directory
	Err     error
}

func (e *WriterError) Error() string {
	return fmt.Sprintf("session %s: the turn log in %s has a writer already: end the host of that session first: %v", e.Session, e.Dir, e.Err)
}

// Is reports whether target is [ErrWriter].
func (e *WriterError) Is(target error) bool { return target == ErrWriter }

// Unwrap returns what the lock said.
func (e *WriterError) Unwrap() error { return e.Err }

// An InvalidError says where a turn log is not what a writer could have left:
// nothing is read behind that place, and nothing is appended to such a log. It is
// [ErrInvalid] to errors.Is.
type InvalidError struct {
	Session string
	Path    string // the segment
	Offset  int64  // of the line's first byte in it, uncompressed
	Seq     uint64 // of the event, or of the one that should be there
	Err     error  // what is wrong
}

func (e *InvalidError) Error() string {
	what := "move its directory of turns away to begin a new log"
	if errors.Is(e.Err, ErrVersion) || errors.Is(e.Err, ErrKind) {
		what = "use the version of docket that wrote it"
	}
	return fmt.Sprintf("session %s: turn log %s: event %d at byte %d: %v: %s", e.Session, e.Path, e.Seq, e.Offset, e.Err, what)
}

// Is reports whether target is [ErrInvalid].
func (e *InvalidError) Is(target error) bool { return target == ErrInvalid }

// Unwrap returns what is wrong.
func (e *InvalidError) Unwrap() error { return e.Err }

// An ActiveError says which turn is open. It is [ErrActive] to errors.Is.
type ActiveError struct {
	Session string
	Turn    string
	MID     string
}

func (e *ActiveError) Error() string {
	return fmt.Sprintf("session %s: turn %s is open: finish it first", e.Session, e.Turn)
}

// Is reports whether target is [ErrActive].
func (e *ActiveError) Is(target error) bool { return target == ErrActive }

// A BarrierError says that the cleanup after a turn did not complete. The turn is
// finished all the same; no other starts before the cleanup succeeds. It is
// [ErrBarrier] to errors.Is.
type BarrierError struct {
	Session string
	Turn    string // the finished turn whose cleanup is due
	Err     error  // what [Options.Barrier] said
}

func (e *BarrierError) Error() string {
	return fmt.Sprintf("session %s: cleanup after turn %s: %v: no turn starts before it succeeds", e.Session, e.Turn, e.Err)
}

// Is reports whether target is [ErrBarrier].
func (e *BarrierError) Is(target error) bool { return target == ErrBarrier }

// Unwrap returns what the barrier said.
func (e *BarrierError) Unwrap() error { return e.Err }

// A TerminalConflictError says that a turn was finished before, otherwise. It is
// [ErrTerminalConflict] to errors.Is.
type TerminalConflictError struct {
	Session string
	First   Event    // the one that stands
	Refused Finished // the one that was refused
}

func (e *TerminalConflictError) Error() string {
	first, _ := e.First.Payload.(Finished)
	return fmt.Sprintf("session %s: turn %s finished with %s already: %s is refused", e.Session, e.First.Turn, first, e.Refused)
}

// Is reports whether target is [ErrTerminalConflict].
func (e *TerminalConflictError) Is(target error) bool { return target == ErrTerminalConflict }

// String returns outcome and code.
func (f Finished) String() string {
	if f.Code == "" {
		return string(f.Outcome)
	}
	return string(f.Outcome) + "/" + f.Code
}
