package queue

import (
	"errors"
	"fmt"
	"path/filepath"
)

var (
	// ErrCorrupt is what every [*CorruptError] is.
	ErrCorrupt = errors.New("queue: file cannot be read as a list of messages")

	// ErrFull is returned by [Queue.Reserve] and [Queue.Enqueue] when the queue holds
	// [Options.MaxPending] entries already.
	ErrFull = errors.New("queue: full")

	// ErrNotPending is returned when the queue does not hold the message, or, where
	// only the oldest entry can be meant, when the message is not the oldest.
	ErrNotPending = errors.New("queue: message is not pending")

	// ErrInvalid is returned for an entry that cannot be stored as it is: no id, an
	// id of more than [MaxMIDBytes], a string that is not valid UTF-8, or one that takes
	// more than [MaxEntryBytes].
	ErrInvalid = errors.New("queue: entry cannot be stored")

	// ErrUnconfirmed is the cause in a [*StoppedError] when the oldest entry was
	// handed over before without proof, and nobody decided about it.
	ErrUnconfirmed = errors.New("queue: handed over before, and not confirmed")
)

// A CorruptError says where a file of a queue stops making sense. It is
// [ErrCorrupt] to errors.Is.
type CorruptError struct {
	Path   string // that of the list, or of what is known of the attempts
	Offset int64  // bytes from the start of the file
	Err    error  // what does not make sense there
}

func (e *CorruptError) Error() string {
	as := "a list of messages"
	if filepath.Base(e.Path) == claimFile {
		as = "a note of the attempts"
	}
	return fmt.Sprintf("%s: cannot be read as %s from byte %d on: %v: nothing was changed, repair it", e.Path, as, e.Offset, e.Err)
}

// Is reports whether target is [ErrCorrupt].
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }

// Unwrap returns what does not make sense.
func (e *CorruptError) Unwrap() error { return e.Err }

// A WriteError says that a change could not be written, for one because the disk
// is full. It wraps the cause.
type WriteError struct {
	Path   string
	Before bool // the file is as it was before the change
	Err    error
}

func (e *WriteError) Error() string {
	state := "the file is as before"
	if !e.Before {
		state = "the change is unfinished, and left to the next holder of the record lock"
	}
	return fmt.Sprintf("%s: write: %v: %s", e.Path, e.Err, state)
}

// Unwrap returns the cause.
func (e *WriteError) Unwrap() error { return e.Err }

// A StoppedError says at which message a pass ended, and what became of it. That
// message and all behind it are still owed. It wraps the cause.
type StoppedError struct {
	MID string

	// Answer is Refused when nothing of the message reached the harness,
	// Unconfirmed when that is not known, and Taken when the harness has it but the
	// books could not be brought up to date; it stays unconfirmed then.
	Answer Answer
	Err    error
}

func (e *StoppedError) Error() string {
	return fmt.Sprintf("message %s: %s: %v", e.MID, e.Answer, e.Err)
}

// Unwrap returns the cause.
func (e *StoppedError) Unwrap() error { return e.Err }
