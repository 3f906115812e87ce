package dispatch

import (
	"errors"
	"fmt"

	"github.com/docket-go/docket/adapter"
)

var (
	// ErrEmptyText refuses a message that has no text but white space.
	ErrEmptyText = errors.New("dispatch: the text is empty")

	// ErrKey refuses an operation without a key, and a key or operation that is
	// too long or not valid UTF-8.
	ErrKey = errors.New("dispatch: bad key")

	// ErrKeyReused refuses a key that came before with another content. The first
	// message stands.
	ErrKeyReused = errors.New("dispatch: the key was used for another message")

	// ErrSenderClosed refuses a message from a session that was closed.
	ErrSenderClosed = errors.New("dispatch: the sending session is closed")

	// ErrAttributes refuses attributes that are too many, too long, or not valid
	// UTF-8.
	ErrAttributes = errors.New("dispatch: bad attributes")

	// ErrInDoubt is returned when a message was written but cannot be promised:
	// the disk did not confirm it, or it could not be queued. It may be delivered
	// nevertheless; [Dispatcher.State] tells.
	ErrInDoubt = errors.New("dispatch: written, but not promised")

	// ErrNoMessage is returned for a mid that the session's timeline does not hold.
	ErrNoMessage = errors.New("dispatch: no such message")

	// ErrNotUnconfirmed is returned by [Dispatcher.Confirm], and for
	// [DrainOptions.Redeliver], for a message about which nobody has to decide: it was
	// not handed over yet, or is at an end.
	ErrNotUnconfirmed = errors.New("dispatch: the message is not unconfirmed")

	// ErrHeld ends a pass at an unconfirmed message that nothing decides about:
	// [Dispatcher.Confirm], [DrainOptions.Redeliver] or [Dispatcher.Revoke] do.
	ErrHeld = errors.New("dispatch: held until it is confirmed, redelivered or revoked")

	// ErrInFlight is returned for a message that is being handed over right now.
	ErrInFlight = errors.New("dispatch: the message is being handed over now")

	// ErrUnrecorded ends a pass at an entry whose line the timeline does not hold, so
	// that nothing is delivered without its line. The entry stays owed.
	ErrUnrecorded = errors.New("dispatch: the entry's line is not in the timeline")

	// ErrReceipt ends a pass at a keyed entry whose receipt is missing from the
	// timeline or says something else. The entry stays owed.
	ErrReceipt = errors.New("dispatch: the entry does not match its receipt")
)

// A PassError says why a pass ended before the queue was empty. The message and
// all behind it are still owed. It wraps the reason, and is
// [adapter.ErrUnconfirmed] if nobody knows whether the message arrived.
type PassError struct {
	Session string
	MID     string         // where the pass stopped; empty if it did not get to a message
	Answer  adapter.Answer // Refused or Unconfirmed; Taken if the books could not be brought up to date
	Err     error
}

func (e *PassError) Error() string {
	if e.MID == "" {
		return fmt.Sprintf("session %s: pass ended: %v", e.Session, e.Err)
	}
	return fmt.Sprintf("session %s: message %s %s: %v", e.Session, e.MID, e.Answer, e.Err)
}

// Is reports whether target is [adapter.ErrUnconfirmed] and the message is.
func (e *PassError) Is(target error) bool {
	return target == adapter.ErrUnconfirmed && e.Answer == adapter.Unconfirmed
}

// Unwrap returns the reason.
func (e *PassError) Unwrap() error { return e.Err }
