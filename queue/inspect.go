package queue

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// A FaultKind says what left a part of the file that is no entry.
type FaultKind int

// The kinds of faults.
const (
	TornTail FaultKind = iota // an enqueue that was interrupted
	TornHead                  // a removal of the oldest entry that was interrupted
	LostNote                  // what is known of the attempts makes no sense; the list may
	Damaged                   // nothing that this package does
)

// String returns the words for k.
func (k FaultKind) String() string {
	switch k {
	case TornTail:
		return "interrupted enqueue"
	case TornHead:
		return "interrupted removal"
	case LostNote:
		return "lost note of the attempts"
	}
	return "damage"
}

// A Fault is a part of a file that makes no sense.
type Fault struct {
	Path   string // of the list, or of what is known of the attempts
	Kind   FaultKind
	Offset int64 // bytes from the start of the file
	Length int64 // bytes; zero where something is missing
	Bare   bool  // only separators are concerned: no message is in doubt
	Err    error // what does not make sense
}

// An Inspection is what can be read of a queue, and what cannot.
type Inspection struct {
	Path    string  // of the list
	Exists  bool    // there is a list
	Count   int     // of the entries that can be read; they stand
	Entries []Entry // those, in order; [Queue.Scan] leaves them out
	Faults  []Fault // in order, those of the list first; none in a queue that is as it should be
}

// Err returns nil if there is no fault, and otherwise a [*CorruptError] for
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
	return &CorruptError{Path: worst.Path, Offset: worst.Offset, Err: fmt.Errorf("%v: %w", worst.Kind, worst.Err)}
}

// Damaged reports that something other than an interrupted edit harmed a file.
func (i Inspection) Damaged() bool { return i.has(Damaged, i.Path) || i.has(Damaged, i.notePath()) }

func (i Inspection) has(kind FaultKind, path string) bool {
	return slices.ContainsFunc(i.Faults, func(f Fault) bool { return f.Kind == kind && f.Path == path })
}

func (i Inspection) notePath() string { return filepath.Join(filepath.Dir(i.Path), claimFile) }

// listErr is Err for who reads what is owed: without a note the oldest entry counts
// as claimed, and that is all there is to say, unless no note can be written either.
func (i Inspection) listErr() error {
	i.Faults = slices.DeleteFunc(slices.Clone(i.Faults), func(f Fault) bool {
		return f.Kind == LostNote || f.Path != i.Path && i.Count == 0
	})
	return i.Err()
}

// Inspect reads the files once and tells entries from faults. It changes nothing.
//
// With the record lock held, what it finds is what the last holder left. Without
// it, a live writer may be in the middle of an edit; use [Queue.All] then.
//
// Nil says that the file could be read, whatever is in it; look at the Faults. Other
// errors are those of the disk.
func (q *Queue) Inspect() (Inspection, error) {
	var entries []Entry
	in, err := q.Scan(func(_ Place, e Entry) error {
		entries = append(entries, e)
		return nil
	})
	in.Entries = entries
	return in, err
}

// A Place is where an entry stands in the list, for as long as nobody changes it.
type Place struct{ offset, length int64 }

// Scan is [Queue.Inspect] in memory that grows with the faults and the longest entry, and
// not with the depth: it calls each with one entry after the other. An error of each ends
// it and is returned. Nil for each only counts.
func (q *Queue) Scan(each func(at Place, e Entry) error) (Inspection, error) {
	in := Inspection{Path: q.path}
	n, err := q.readNote()
	if err != nil {
		return in, err
	}
	f, info, err := q.disk.open(q.path, os.O_RDONLY)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case errors.Is(err, errNotPlain):
		in.Exists, in.Faults = true, q.located([]Fault{{Kind: Damaged, Err: errNotPlain}})
	case err != nil:
		return in, err
	default:
		defer f.Close()
		in.Exists = true
		if err := q.scanInto(&in, f, info.Size(), n, each); err != nil {
			return in, err
		}
	}
	if n.broken != nil {
		in.Faults = append(in.Faults, Fault{Path: q.heads.path, Kind: n.fault(), Err: n.broken})
	}
	return in, nil
}

func (q *Queue) scanInto(in *Inspection, f *os.File, size int64, n note, each func(Place, Entry) error) error {
	s := scan(f, size, q.readBytes)
	var err error
	for err == nil {
		e, found, scanErr := s.next()
		if !found || scanErr != nil {
			in.Count, in.Faults = s.count, q.located(s.faults)
			return q.readError(scanErr)
		}
		if s.count == 1 {
			n.applyTo(&e.entry)
		}
		if each != nil {
			err = each(Place{e.offset, int64(len(e.raw))}, e.entry)
		}
	}
	return q.readError(err)
}

// readError names the file in an error that says only that it became shorter.
func (q *Queue) readError(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s: %w", q.path, err)
	}
	return err
}

// A Reading reads entries of a list at their places, one after the other. It opens the
// list once. It is used by one goroutine at a time.
type Reading struct {
	q    *Queue
	file *os.File
	raw  []byte
}

// Reading returns one. Nothing is opened yet; Close must follow.
func (q *Queue) Reading() *Reading { return &Reading{q: q} }

// Read returns the entry that stands at a place, as [Queue.Scan] found it under a hold of
// the record lock that still lasts, but without what is known of the attempts at it. The
// error is [ErrCorrupt] if it does not stand there any more, or of the disk.
func (r *Reading) Read(at Place) (e Entry, err error) {
	if r.file == nil {
		if r.file, _, err = r.q.disk.open(r.q.path, os.O_RDONLY); err != nil {
			r.file = nil
			return e, err
		}
	}
	r.raw = slices.Grow(r.raw[:0], int(at.length))[:at.length]
	n, err := r.file.ReadAt(r.raw, at.offset)
	if err != nil && err != io.EOF {
		return e, err
	}
	e, err = decode(r.raw[:n])
	if err != nil {
		err = &CorruptError{Path: r.q.path, Offset: at.offset, Err: err}
	}
	return e, err
}

// Close gives back what Read has opened.
func (r *Reading) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}
