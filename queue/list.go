package queue

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"iter"
	"os"
	"time"
)

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

// All yields what is owed, oldest first, with what is known of the attempts at the
// oldest, in memory that grows with the longest entry and not with the depth. It takes no
// lock and may be called at any time. Each entry that it yields was owed at a moment
// since the call, none twice; what is owed all the while is among them, and what is
// enqueued meanwhile may be: a loop that enqueues for each entry that it gets has no end.
//
// A file that makes no sense is read again for a fifth of a second, for a live writer
// may be in the middle of an edit; each entry that is yielded gives it as long again.
// If it still makes no sense, what can be read is yielded, and a [*CorruptError] behind
// the last entry. A note of the attempts that
// makes no sense, and can be written anew, is no error: the oldest entry counts as
// claimed. Any error ends the iteration, without an entry beside it.
func (q *Queue) All() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		t := telling{q: q, yield: yield, left: q.patience, pause: listFirst}
		for t.again = true; t.again; {
			if err := t.tell(); err != nil {
				yield(Entry{}, err)
			}
		}
	}
}

// List returns what [Queue.All] yields. Beside a [*CorruptError] there are the entries
// that can be read.
func (q *Queue) List() (entries []Entry, err error) {
	for e, err := range q.All() {
		if err != nil {
			return entries, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// Len counts the entries. It takes no lock and has the errors of [Queue.All]. In a
// file of more than 64 KiB it counts lines and does not look into them.
func (q *Queue) Len() (int, error) {
	f, info, err := q.disk.open(q.path, os.O_RDONLY)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if errors.Is(err, errNotPlain) {
		return 0, &CorruptError{Path: q.path, Err: err}
	}
	n := 0
	if err == nil {
		counted := false
		if info.Size() > wholeBytes {
			n, counted, err = countLines(f, info.Size())
		}
		if err = errors.Join(err, f.Close()); counted || err != nil {
			return n, err
		}
	}
	n = 0
	for _, err := range q.All() {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// countLines counts the entries of a file that this package wrote. It answers
// false for any other.
func countLines(f io.ReaderAt, size int64) (n int, counted bool, err error) {
	if _, ok, err := framed(f, size); !ok {
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
