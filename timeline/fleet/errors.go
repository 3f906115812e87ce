package fleet

import (
	"errors"
	"fmt"
)

// A SessionError says what is wrong with one session of the fleet. It does not end
// the iteration, and disturbs no other session. It wraps the cause: a
// [*timeline.LineError] for one unreadable line, behind which the session goes on;
// [timeline.ErrFutureCursor] for a log that was cut back, which is not followed any
// further until it is closed; or an error of the session or of the system, told once,
// after which the session is tried again when it changes, and at every look at all.
// A line may be told again by an iteration that goes on in front of it.
type SessionError struct {
	Session string
	Err     error
}

func (e *SessionError) Error() string { return fmt.Sprintf("fleet: session %s: %v", e.Session, e.Err) }

// Unwrap returns the cause.
func (e *SessionError) Unwrap() error { return e.Err }

// errStopped ends a follower whose consumer stopped.
var errStopped = errors.New("consumer stopped")
