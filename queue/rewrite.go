package queue

import (
	"bufio"
	"errors"
	"os"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/lock/step"
)

// change brackets a change of the files for the next holder of the record lock. A
// change that failed half way stays announced; one that left the files as they were
// does not.
func (q *Queue) change(held *lock.Record, do func() error) error {
	if err := held.Begin(); err != nil {
		return err
	}
	if err := do(); err != nil {
		q.forget()
		var w *WriteError
		if errors.As(err, &w) && w.Before {
			return errors.Join(err, held.Done())
		}
		return err
	}
	q.known.generation, q.known.held = held.Generation(), held
	return held.Done()
}

// A draft is a new file that is to take the place of the list.
type draft struct {
	q     *Queue
	file  *os.File
	size  int64
	count int
	clear func() error // makes way for it, at the last moment; nil if a rename does
}

// newDraft makes the file. One that a dead process left is removed.
func (q *Queue) newDraft() (*draft, error) {
	q.unstage()
	f, err := q.disk.createNew(q.path+newSuffix, q.freeName)
	if err != nil {
		return nil, &WriteError{Path: q.path, Before: true, Err: err}
	}
	return &draft{q: q, file: f}, nil
}

func (d *draft) Write(p []byte) (int, error) {
	n, err := d.q.disk.writeAt(d.file, p, d.size)
	d.size += int64(n)
	return n, err
}

// whole writes a list of one entry, also over another one.
func (d *draft) whole(text []byte) error {
	all := make([]byte, 0, len(opening)+len(text)+len(closing))
	before := d.size
	d.size, d.count = 0, 1
	_, err := d.Write(append(append(append(all, opening...), text...), closing...))
	if err == nil && d.size < before {
		err = d.q.disk.truncate(d.file, d.size)
	}
	return err
}

// named reports that the draft still bears its name: another handle that shares the
// hold may have begun one of its own.
func (d *draft) named() bool {
	info, err := d.file.Stat()
	there, statErr := os.Lstat(d.file.Name())
	return err == nil && statErr == nil && os.SameFile(info, there)
}

// lines writes a list of the entries that each is called with.
func (d *draft) lines(each func(add func(text []byte) error) error) error {
	w := bufio.NewWriterSize(d, wholeBytes)
	err := each(func(text []byte) error {
		sep := opening
		if d.count > 0 {
			sep = []byte(",\n")
		}
		d.count++
		w.Write(sep)
		_, err := w.Write(text)
		return err
	})
	if err != nil {
		return err
	}
	w.Write(closing)
	return w.Flush()
}

// discard gives the draft up because of err, and returns err as an error that left
// the list as it was.
func (d *draft) discard(err error) error {
	return &WriteError{Path: d.q.path, Before: true, Err: errors.Join(err, d.abandon())}
}

func (d *draft) abandon() error {
	return errors.Join(d.file.Close(), d.q.disk.remove(d.file.Name()))
}

// publish puts the draft in the place of the list. It is the new list from then on.
func (d *draft) publish() error {
	info, err := d.file.Stat()
	if err != nil {
		return d.discard(err)
	}
	step.At("queue: new file written")
	if d.clear != nil {
		if err := d.clear(); err != nil {
			return d.discard(err)
		}
		step.At("queue: way cleared")
	}
	if err := d.q.disk.rename(d.file.Name(), d.q.path); err != nil {
		return &WriteError{Path: d.q.path, Before: d.clear == nil, Err: errors.Join(err, d.abandon())}
	}
	d.q.forget()
	step.At("queue: new file in place")
	d.q.known = sheet{file: d.file, info: info, size: d.size, from: int64(len(opening)), count: d.count}
	return nil
}

// replace puts a list of the given entries in the place of the file, and no file in
// the place of an empty list. Unless it is nil, clear is called just before.
func (q *Queue) replace(lines [][]byte, sync bool, clear func() error) error {
	if len(lines) == 0 {
		if clear != nil {
			if err := clear(); err != nil {
				return &WriteError{Path: q.path, Before: true, Err: err}
			}
		}
		return q.unlink(sync)
	}
	d, err := q.newDraft()
	if err != nil {
		return err
	}
	d.clear = clear
	err = d.lines(func(add func([]byte) error) error {
		for _, text := range lines {
			if err := add(text); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && sync {
		err = q.disk.sync(d.file)
	}
	if err != nil {
		return d.discard(err)
	}
	if err := d.publish(); err != nil || !sync {
		return err
	}
	return q.disk.syncDir(q.dir)
}

// unlink makes the queue empty.
func (q *Queue) unlink(sync bool) error {
	q.forget()
	step.At("queue: last removal begins")
	if err := q.disk.remove(q.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return &WriteError{Path: q.path, Before: true, Err: err}
	}
	step.At("queue: file removed")
	if !sync {
		return nil
	}
	return q.disk.syncDir(q.dir)
}
