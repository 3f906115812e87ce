package session

import (
	"errors"
	"fmt"
)

var (
	// ErrBadID is returned for a name that no session can have; see [ValidID].
	ErrBadID = errors.New("session: bad id")

	// ErrNotFound is returned by [Store.Open] when the store has no session with
	// that id.
	ErrNotFound = errors.New("session: no such session")

	// ErrExists is returned by [Store.Create] when the store has the session
	// already. It is as it was.
	ErrExists = errors.New("session: exists already")

	// ErrUnsafe is what every [*UnsafeError] is.
	ErrUnsafe = errors.New("session: directory is not safe to use")

	// ErrUnreadable is what every [*RecordError] is.
	ErrUnreadable = errors.New("session: unreadable record")

	// ErrRetired is returned for a lifecycle change of a retired session. Nothing
	// was written. Such a session still receives messages.
	ErrRetired = errors.New("session: retired")

	// ErrDeclaration is returned for a declaration whose words are malformed.
	// Nothing was written.
	ErrDeclaration = errors.New("session: bad declaration")

	// ErrField is returned for a field of a record that cannot have the value that
	// was given, or that is not the caller's to set. Nothing was written.
	ErrField = errors.New("session: bad field")

	// ErrTooLarge is returned for a record beyond [MaxRecordBytes]. Nothing was
	// written.
	ErrTooLarge = errors.New("session: record is too large")

	// ErrInDoubt is returned for a change that was written and cannot be promised:
	// readers may see it, and a power cut may undo it. [Session.Record] tells whether
	// it stands; to make the same change again makes sure of the record.
	ErrInDoubt = errors.New("session: written, but not promised")
)

// An UnsafeError says why a session directory is refused. It is [ErrUnsafe] to
// errors.Is.
type UnsafeError struct {
	Session string
	Path    string
	Reason  string // what is wrong, and what to do
}

// Error names the session, the directory and the reason.
func (e *UnsafeError) Error() string {
	return fmt.Sprintf("session %s: %s: %s", e.Session, e.Path, e.Reason)
}

// Is reports whether target is [ErrUnsafe].
func (e *UnsafeError) Is(target error) bool { return target == ErrUnsafe }

// A RecordError says which file of a session, or which marker of a closed one,
// does not hold what it must. The file is left as it is. It is [ErrUnreadable]
// to errors.Is.
type RecordError struct {
	Session string
	Path    string
	Err     error // what is wrong with it
}

// Error names the session, the file, what is wrong and what to do.
func (e *RecordError) Error() string {
	return fmt.Sprintf("session %s: %s cannot be read: %v: put a good copy there, or close the session", e.Session, e.Path, e.Err)
}

// Is reports whether target is [ErrUnreadable].
func (e *RecordError) Is(target error) bool { return target == ErrUnreadable }

// Unwrap returns what is wrong with the file.
func (e *RecordError) Unwrap() error { return e.Err }

// An Oddity is one thing that [Session.Check] found not to fit.
type Oddity struct {
	Session string
	Path    string // the file that says it
	Reason  string // what does not fit, and what to do
	Damage  bool   // something that was stored is gone; otherwise nothing is lost
}

// Error names the session, the file and the reason.
func (e *Oddity) Error() string {
	return fmt.Sprintf("session %s: %s: %s", e.Session, e.Path, e.Reason)
}

// A doubtError is the error of a change that stands nevertheless. It is [ErrInDoubt]
// to errors.Is, in the words of what went wrong.
type doubtError struct{ error }

func (e doubtError) Unwrap() error        { return e.error }
func (e doubtError) Is(target error) bool { return target == ErrInDoubt }

// doubted returns the error of a change, which stands or does not.
func doubted(stands bool, err error) error {
	if err == nil || !stands {
		return err
	}
	return doubtError{err}
}
