package watching

import (
	"errors"
	"fmt"
)

var (
	// ErrSelf is returned by [Watches.Add] for a session that is to watch itself.
	ErrSelf = errors.New("watching: a session cannot watch itself")

	// ErrNotWatching is returned by [Watches.Remove] when the one does not watch the
	// other.
	ErrNotWatching = errors.New("watching: it does not watch that session")

	// ErrAway is why a watcher could not be told whose directory is missing although
	// the store has no mark that it was closed. See [session.Store.Closed].
	ErrAway = errors.New("watching: the watcher is missing, and not marked as closed")

	// ErrCorrupt is what every [*CorruptError] is.
	ErrCorrupt = errors.New("watching: unreadable list of watchers")

	// ErrVersion is returned for a list of watchers that a later docket wrote. It is
	// left as it is.
	ErrVersion = errors.New("watching: the list of watchers is of a later version")
)

// A CorruptError says which list of watchers does not hold what it must. The file is
// left as it is, and nobody is told anything meanwhile. It is [ErrCorrupt] to
// errors.Is.
type CorruptError struct {
	Session string
	Path    string
	Err     error // what is wrong with it
}

// Error names the session, the file, what is wrong and what to do.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("session %s: %s does not say who watches it: %v: move the file away and let them watch again, from where they were told last",
		e.Session, e.Path, e.Err)
}

// Is reports whether target is [ErrCorrupt].
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }

// Unwrap returns what is wrong with the file.
func (e *CorruptError) Unwrap() error { return e.Err }
