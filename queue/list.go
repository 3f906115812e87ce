package queue

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// MaxListBytes bounds the file that List and Inspect read into memory. Passes and
// Enqueue have no such bound.
const MaxListBytes = 1 << 30

const (
	// A live writer is inside an edit for microseconds; one that the machine does
	// not run just then may take longer.
	listPatience = 200 * time.Millisecond
	listFirst    = 200 * time.Microsecond
)

// Owed reports whether anything is owed. It costs one stat and takes no lock. A
// file that cannot be read, or holds an empty list, counts as something owed until
// the next holder of the record lock has looked at it.
func (q *Queue) Owed() (bool, error) { return owed(q.path) }

func owed(path string) (bool, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// List returns what is owed, oldest first, with what is known of the attempts at
// the oldest. It takes no lock and may be called at any time; while entries come
// and go, what it shows may be newer at the end than at the start.
//
// When a file makes no sense, List reads again for a fifth of a second, for a
// live writer may be in the middle of an edit. If it still makes no sense, the error
// is a [*CorruptError], and the entries that can be read are returned beside it. A
// note of the attempts that makes no sense, and can be written anew, is no error: the
// oldest entry counts as claimed.
// A file of more than [MaxListBytes] gives [ErrTooLarge].
func (q *Queue) List() ([]Entry, error) {
	for spent, pause := time.Duration(0), listFirst; ; pause *= 2 {
		in, err := q.Inspect()
		if err == nil {
			err = in.listErr()
		}
		again := errors.Is(err, ErrCorrupt) || errors.Is(err, io.ErrUnexpectedEOF) || err == nil && in.has(LostNote, in.notePath())
		if !again || spent >= q.patience {
			return in.Entries, err
		}
		time.Sleep(pause)
		spent += pause
	}
}

// Len counts the entries. It takes no lock and has the errors of [Queue.List]. In a
// file of more than 64 KiB it counts lines and does not look into them, in bounded
// memory.
func (q *Queue) Len() (int, error) {
	f, info, err := q.disk.open(q.path, os.O_RDONLY)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if errors.Is(err, errNotPlain) {
		return 0, &CorruptError{Path: q.path, Err: err}
	}
	if err == nil {
		var n int
		counted := false
		if info.Size() > wholeBytes {
			n, counted, err = countLines(f, info.Size())
		}
		if err = errors.Join(err, f.Close()); counted || err != nil {
			return n, err
		}
	}
	entries, err := q.List()
	return len(entries), err
}

// countLines counts the entries of a file that this package wrote. It answers
// false for any other.
func countLines(f io.ReaderAt, size int64) (n int, counted bool, err error) {
	if ok, err := framed(f, size); !ok {
		return 0, false, err
	}
	r := bufio.NewReaderSize(io.NewSectionReader(f, 1, size-1), 64<<10)
	sep := []byte("\n{")
	for {
		chunk, err := r.Peek(r.Size())
		n += bytes.Count(chunk, sep)
		if err == io.EOF {
			return n, n > 0, nil
		}
		if err != nil {
			return 0, false, err
		}
		// The last byte may be the first half of a separator.
		if _, err := r.Discard(len(chunk) - 1); err != nil {
			return 0, false, err
		}
	}
}

// readFile reads a plain file whole.
func (d disk) readFile(path string) ([]byte, error) {
	f, info, err := d.open(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > MaxListBytes {
		return nil, fmt.Errorf("%w: %s has %d bytes", ErrTooLarge, path, info.Size())
	}
	data := make([]byte, info.Size())
	_, err = f.ReadAt(data, 0)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil && len(data) > 0 {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return data, nil
}
