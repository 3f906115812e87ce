package queue

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/docket-go/docket/lock"
)

// A FaultKind says what left a part of the file that is no entry.
type FaultKind int

// The kinds of faults.
const (
	TornTail FaultKind = iota // an enqueue that was interrupted
	TornHead                  // a removal of the oldest entry that was interrupted
	Damaged                   // nothing that this package does
)

// String returns the words for k.
func (k FaultKind) String() string {
	switch k {
	case TornTail:
		return "interrupted enqueue"
	case TornHead:
		return "interrupted removal"
	}
	return "damage"
}

// A Fault is a part of the file that is no entry.
type Fault struct {
	Kind   FaultKind
	Offset int64 // bytes from the start of the file
	Length int64 // bytes; zero where something is missing
	Bare   bool  // only separators are concerned: no message is in doubt
	Err    error // what does not make sense
}

// An Inspection is what can be read of a file, and what cannot.
type Inspection struct {
	Path    string
	Exists  bool
	Entries []Entry // those that can be read, in order; they stand
	Faults  []Fault // in order; none in a file that is as it should be
}

// Err returns nil if the file has no fault, and otherwise a [*CorruptError] for
// the gravest one.
func (i Inspection) Err() error {
	if len(i.Faults) == 0 {
		return nil
	}
	worst := i.Faults[0]
	for _, f := range i.Faults {
		if f.Kind > worst.Kind {
			worst = f
		}
	}
	return &CorruptError{Path: i.Path, Offset: worst.Offset, Err: fmt.Errorf("%v: %w", worst.Kind, worst.Err)}
}

// Damaged reports that something other than an interrupted edit harmed the file.
func (i Inspection) Damaged() bool {
	for _, f := range i.Faults {
		if f.Kind == Damaged {
			return true
		}
	}
	return false
}

// Inspect reads the file once and tells entries from faults. It changes nothing.
//
// With the record lock held, what it finds is what the last holder left. Without
// it, a live writer may be in the middle of an edit; use [Queue.List] then.
//
// Nil says that the file could be read, whatever is in it; look at the Faults.
// [ErrTooLarge] is returned as for List, and other errors are those of the disk.
func (q *Queue) Inspect() (Inspection, error) {
	in := Inspection{Path: q.path}
	data, err := readFile(q.path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return in, nil
	case errors.Is(err, errNotPlain):
		in.Exists = true
		in.Faults = []Fault{{Kind: Damaged, Err: errNotPlain}}
		return in, nil
	case err != nil:
		return in, err
	}
	r := read(data)
	in.Exists, in.Entries, in.Faults = true, r.entries(), r.faults
	return in, q.addNote(in.Entries)
}

// Rebuild replaces the file, whatever is in it, by one that holds entries, in their
// order; with none it removes it. It is for who knows from elsewhere what is owed:
// typically what [Queue.Inspect] could read, less what was delivered, plus what was
// lost. The claim of a message survives while the message is in entries.
//
// A damaged file is first copied beside, and aside is the path of the copy; what an
// interrupted edit left is not worth one. Nil promises that file and copy are on
// stable storage. [ErrInvalid] and a [*WriteError] leave the file as it was. If the
// process dies inside, the old file or the new one is there, whole.
func (q *Queue) Rebuild(held *lock.Record, entries []Entry) (aside string, err error) {
	if err := held.Covers(q.dir); err != nil {
		return "", err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.forget()
	lines := make([][]byte, len(entries))
	for i, e := range entries {
		if lines[i], err = encode(e); err != nil {
			return "", err
		}
	}
	in, err := q.Inspect()
	if err != nil {
		return "", err
	}
	if in.Damaged() {
		if aside, err = q.setAside(); err != nil {
			return "", err
		}
	}
	return aside, q.change(held, func() error { return q.replace(lines, true) })
}

// setAside copies the file beside itself under a name that is not taken. What is
// not a plain file is moved.
func (q *Queue) setAside() (string, error) {
	base := q.path + ".damaged-" + q.now().UTC().Format("20060102T150405.000Z")
	for i, aside := 1, base; ; i++ {
		err := q.copyTo(aside)
		if !errors.Is(err, os.ErrExist) {
			return aside, err
		}
		aside = fmt.Sprintf("%s-%d", base, i)
	}
}

func (q *Queue) copyTo(aside string) error {
	from, _, err := openPlain(q.path, os.O_RDONLY)
	if errors.Is(err, errNotPlain) {
		if _, err := os.Lstat(aside); err == nil {
			return os.ErrExist
		}
		return os.Rename(q.path, aside)
	}
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(aside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	if err = errors.Join(err, to.Sync(), to.Close()); err != nil {
		return errors.Join(&WriteError{Path: aside, Before: true, Err: err}, os.Remove(aside))
	}
	return nil
}
