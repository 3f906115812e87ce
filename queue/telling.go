package queue

import (
	"errors"
	"io"
	"os"
	"time"
)

// A telling is one run of [Queue.All].
type telling struct {
	q     *Queue
	yield func(Entry, error) bool

	left, pause time.Duration // for a file that makes no sense
	again       bool          // it is not over
	told        int           // entries
	note        note          // what is known of the attempts at the first
}

// rest lets it be patient once more: what made no sense before does by now.
func (t *telling) rest() { t.left, t.pause = t.q.patience, listFirst }

// wait pauses for a live writer, and reports false if that was done for long enough.
func (t *telling) wait() bool {
	if t.left <= 0 {
		return false
	}
	time.Sleep(t.pause)
	t.left -= t.pause
	t.pause *= 2
	return true
}

// tell reads the file once, and asks to be called again where what it met may be an edit
// that is under way and nothing was yielded yet.
func (t *telling) tell() error {
	t.again = false
	f, info, err := t.q.disk.open(t.q.path, os.O_RDONLY)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return t.end(nil)
	case errors.Is(err, errNotPlain):
		return t.end([]Fault{{Kind: Damaged, Err: errNotPlain}})
	case err != nil:
		return err
	}
	defer f.Close()
	err = t.read(f, info.Size())
	if t.told == 0 && (errors.Is(err, ErrCorrupt) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, errNotNow)) {
		if t.again = t.wait(); t.again {
			return nil
		}
	}
	return t.q.readError(err)
}

// read yields what stands in the file. Each entry makes it as patient as it was, for one
// that takes long over its entries meets many edits.
func (t *telling) read(f *os.File, size int64) error {
	s := scan(f, size, t.q.readBytes)
	for s.patient = t.left > 0; ; {
		e, found, err := s.next()
		switch {
		case s.patient && t.told > 0 && (errors.Is(err, errNotNow) || errors.Is(err, io.ErrUnexpectedEOF)):
			s.drop()
			s.patient, err = t.wait(), s.look(f)
		case err == nil && !found:
			return t.end(s.faults)
		case err == nil:
			more, err := t.give(e.entry)
			if err != nil || !more {
				return err
			}
			t.rest()
			s.patient = t.left > 0
		}
		if err != nil {
			return err
		}
	}
}

// give yields an entry, the first one with what is known of the attempts at it.
func (t *telling) give(e Entry) (more bool, err error) {
	if t.told == 0 {
		if t.note, err = t.q.readNote(); err != nil {
			return false, err
		}
		if t.note.broken != nil && !t.note.stuck && t.left > 0 {
			return false, errNotNow
		}
		t.note.applyTo(&e)
	}
	t.told++
	return t.yield(e, nil), nil
}

// end is the error for a file with faults.
func (t *telling) end(faults []Fault) error {
	in := Inspection{Path: t.q.path, Count: t.told, Faults: t.q.located(faults)}
	if t.note.broken != nil {
		in.Faults = append(in.Faults, Fault{Path: t.q.heads.path, Kind: t.note.fault(), Err: t.note.broken})
	}
	return in.listErr()
}

// look takes note of how long the file is by now: it may be the next list already.
func (s *scanner) look(f *os.File) error {
	info, err := f.Stat()
	if err == nil {
		s.size = info.Size()
	}
	return err
}
