package queue

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// Owes is [Queue.Owed] without a handle, for who looks at many sessions: whether the
// session directory dir has a list. It costs one stat; a session that is gone owes
// nothing.
func Owes(dir string) (bool, error) { return owed(filepath.Join(dir, listFile)) }

// Peek returns the oldest entry, with what is known of the attempts at it, and false
// if nothing is owed. It takes no lock and may be called at any time; in a file as
// this package writes it, it reads one entry, whatever the depth, and does not look
// into what stands behind. Any other file it reads as [Queue.All] does, with the
// errors of that; beside [ErrCorrupt] the entry is the oldest that can be read.
//
// What it says is true of a moment: a pass may be at work on that entry.
func (q *Queue) Peek() (Entry, bool, error) {
	k, e, found, err := q.glance(0)
	if found {
		k.file.Close()
	}
	if err != nil || found {
		return e, found, err
	}
	for next, err := range q.All() {
		if err != nil {
			return e, found, err
		}
		if !found {
			e, found = next, true
		}
	}
	return e, found, nil
}

// glance opens a file of more than so many bytes and reads the oldest entry where it
// stands. It finds nothing in a file that is not in this package's form at both ends,
// which may be one that is being written. Who gets an entry closes the file.
func (q *Queue) glance(more int64) (k sheet, e Entry, found bool, err error) {
	f, info, err := q.disk.open(q.path, os.O_RDONLY)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, errNotPlain) {
		return k, e, false, nil
	}
	if err != nil {
		return k, e, false, err
	}
	k = sheet{file: f, size: info.Size(), from: int64(len(opening))}
	if k.size > more {
		e, found, err = q.glanceAt(&k)
	}
	if !found {
		f.Close()
	}
	return k, e, found, notCut(err)
}

func (q *Queue) glanceAt(k *sheet) (e Entry, found bool, err error) {
	if _, ok, err := framed(k.file, k.size); err != nil || !ok {
		return e, false, err
	}
	if ok, err := k.seek(); err != nil || !ok {
		return e, false, err
	}
	n, err := q.readNote()
	if err != nil || n.broken != nil {
		return e, false, err
	}
	e = k.first.entry
	n.applyTo(&e)
	return e, true, nil
}

// notCut leaves out the error of a file that became shorter while it was read.
func notCut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}
