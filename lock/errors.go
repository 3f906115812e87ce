package lock

import (
	"errors"
	"fmt"
	"time"
)

var (
	// ErrTimeout is what every [*TimeoutError] is.
	ErrTimeout = errors.New("lock: not free in time")

	// ErrBusy is returned by [Dir.TryDelivery] and [Dir.TryTurns] when another
	// holder has the lock.
	ErrBusy = errors.New("lock: held elsewhere")

	// ErrClosed is returned when the session directory is not there, or is not
	// the one any more that was opened.
	ErrClosed = errors.New("lock: session directory is gone")

	// ErrUnsupported is returned on a file system without working locks. Nothing
	// may be written there; reading works.
	ErrUnsupported = errors.New("lock: file system has no working locks")

	// ErrReadOnly is returned where the lock file cannot be opened for writing.
	ErrReadOnly = errors.New("lock: session directory cannot be written")

	// ErrNotHeld is returned where a held lock was asked for, and the one given
	// is released or belongs to another session.
	ErrNotHeld = errors.New("lock: not held for this session")
)

// A TimeoutError says which lock was not free within the bound. It is
// [ErrTimeout] to errors.Is.
type TimeoutError struct {
	Session string        // the base name of the session directory
	Lock    string        // "record" or "delivery"
	Path    string        // the lock file
	Waited  time.Duration // the bound that passed
}

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("session %s: %s lock still held by another holder after %v (%s): try again, or allow a longer wait",
		e.Session, e.Lock, e.Waited.Round(time.Millisecond), e.Path)
}

// Is reports whether target is [ErrTimeout].
func (e *TimeoutError) Is(target error) bool { return target == ErrTimeout }
