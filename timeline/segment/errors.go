package segment

import (
	"errors"
	"fmt"
)

var (
	// ErrClosed is returned when the session directory is not there any more, or
	// holds another log now.
	ErrClosed = errors.New("segment: log is gone")

	// ErrCorrupt is what a [*CorruptError] is.
	ErrCorrupt = errors.New("segment: file is damaged")

	// ErrFaulted is returned by every Write and Sync of a handle after one of its
	// data syncs failed. It wraps the cause. What was written since the last
	// successful sync may or may not be on stable storage, and no later sync, of this
	// handle or another, can tell. Open a new handle to go on; the lines in question
	// stay in the file.
	ErrFaulted = errors.New("segment: a data sync failed")

	// ErrFull is what the error of a Write is when the disk or the quota is full.
	// The log is as it was before.
	ErrFull = errors.New("segment: no space left")

	// ErrFuture is returned for a sequence behind the end of the log.
	ErrFuture = errors.New("segment: sequence is behind the end of the log")

	// ErrLine is returned by Write for bytes that are not one JSON object on one
	// line. Nothing was written.
	ErrLine = errors.New("segment: not one JSON object on one line")

	// ErrTooLarge is what a [*TooLargeError] is.
	ErrTooLarge = errors.New("segment: line is too large")

	// ErrVersion is returned for a segment whose header says that a later version
	// of this format wrote it. Nothing is appended to such a log.
	ErrVersion = errors.New("segment: written by a later version of docket")
)

// A TooLargeError says by how much a line passes the limit. Nothing was written.
type TooLargeError struct {
	Bytes int64 // the line with its sequence and newline
	Limit int64
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("segment: line of %d bytes is larger than the limit of %d: send less, or raise the limit", e.Bytes, e.Limit)
}

// Is reports whether target is [ErrTooLarge].
func (e *TooLargeError) Is(target error) bool { return target == ErrTooLarge }

// A CorruptError says where a file stops making sense. It is [ErrCorrupt] to
// errors.Is.
type CorruptError struct {
	Path   string
	Offset int64 // bytes from the start of the uncompressed segment
	Bytes  int64 // how many from there are lost; zero when that is not known
	Err    error // what is wrong
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("segment: %s: damaged at byte %d: %v", e.Path, e.Offset, e.Err)
}

// Is reports whether target is [ErrCorrupt].
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }

// lostRange returns the range that err says is lost, or nil if err is of another
// kind or of an unknown extent.
func lostRange(err error) *CorruptError {
	if err == nil {
		return nil
	}
	var lost *CorruptError
	if errors.As(err, &lost) && lost.Bytes > 0 {
		return lost
	}
	return nil
}

// Unwrap returns what is wrong.
func (e *CorruptError) Unwrap() error { return e.Err }
