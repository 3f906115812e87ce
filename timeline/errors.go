package timeline

import (
	"errors"
	"fmt"
)

var (
	// ErrCorrupt is what every [*LineError] is.
	ErrCorrupt = errors.New("timeline: unreadable line")

	// ErrClosed is returned when the session directory is not there any more.
	ErrClosed = errors.New("timeline: session directory is gone")

	// ErrText is returned for text that is not valid UTF-8 or holds a NUL. Nothing
	// was written.
	ErrText = errors.New("timeline: text must be valid UTF-8 without NUL")

	// ErrTooLarge is what every [*TooLargeError] is.
	ErrTooLarge = errors.New("timeline: text is too large")

	// ErrEntry is returned for an entry that lacks what it must have, such as a
	// message without a mid. Nothing was written.
	ErrEntry = errors.New("timeline: entry cannot be stored")

	// ErrMalformedCursor is returned for text that is not a cursor, or not a whole
	// one, and for the zero [Cursor].
	ErrMalformedCursor = errors.New("timeline: malformed cursor")

	// ErrForeignCursor is returned for a cursor of another session, or of another
	// log of the same session.
	ErrForeignCursor = errors.New("timeline: cursor of another log")

	// ErrFutureCursor is returned for a cursor past the end of the log.
	ErrFutureCursor = errors.New("timeline: cursor is past the end of the log")
)

// A LineError says which line of a log cannot be read, and why. It is
// [ErrCorrupt] to errors.Is. Nothing behind the line is lost: an iterator that
// reports it goes on with the next line if its consumer does.
type LineError struct {
	Path   string
	Offset int64 // of the line's first byte in the file, uncompressed
	Err    error // what the decoder said
}

func (e *LineError) Error() string {
	return fmt.Sprintf("%s: unreadable line at byte %d: %v", e.Path, e.Offset, e.Err)
}

// Is reports whether target is [ErrCorrupt].
func (e *LineError) Is(target error) bool { return target == ErrCorrupt }

// Unwrap returns what the decoder said.
func (e *LineError) Unwrap() error { return e.Err }

// A TooLargeError says which text was refused for its size, before anything was
// written. It is [ErrTooLarge] to errors.Is.
type TooLargeError struct {
	Field string
	Bytes int // the size of the text
	Limit int // the most that is allowed
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%s has %d bytes: send at most %d", e.Field, e.Bytes, e.Limit)
}

// Is reports whether target is [ErrTooLarge].
func (e *TooLargeError) Is(target error) bool { return target == ErrTooLarge }
