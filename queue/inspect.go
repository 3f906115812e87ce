package queue

import (
	"errors"
	"fmt"
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
	Entries []Entry // those that can be read, in order; they stand
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
		return f.Kind == LostNote || f.Path != i.Path && len(i.Entries) == 0
	})
	return i.Err()
}

// Inspect reads the files once and tells entries from faults. It changes nothing.
//
// With the record lock held, what it finds is what the last holder left. Without
// it, a live writer may be in the middle of an edit; use [Queue.List] then.
//
// Nil says that the file could be read, whatever is in it; look at the Faults.
// [ErrTooLarge] is returned as for List, and other errors are those of the disk.
func (q *Queue) Inspect() (Inspection, error) {
	in := Inspection{Path: q.path}
	data, err := q.disk.readFile(q.path)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case errors.Is(err, errNotPlain):
		in.Exists = true
		in.Faults = []Fault{{Kind: Damaged, Err: errNotPlain}}
	case err != nil:
		return in, err
	default:
		r := read(data)
		in.Exists, in.Entries, in.Faults = true, r.entries(), r.faults
	}
	for i := range in.Faults {
		in.Faults[i].Path = q.path
	}
	n, err := q.readNote()
	if err != nil {
		return in, err
	}
	if n.broken != nil {
		in.Faults = append(in.Faults, Fault{Path: q.heads.path, Kind: n.fault(), Err: n.broken})
	}
	if len(in.Entries) > 0 {
		n.applyTo(&in.Entries[0])
	}
	return in, nil
}
