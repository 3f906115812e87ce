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
	q.changes.Add(1)
	if err := do(); err != nil {
		q.forget()
		var w *WriteError
		if errors.As(err, &w) && w.Before {
			return errors.Join(err, held.Done())
		}
		return err
	}
	q.known.generation, q.known.look = held.Generation(), q.look(held)
	held.SetMark(q.known.mark())
	return held.Done()
}

// A draft is a new file that is to take the place of the list.
type draft struct {
	q     *Queue
	file  *os.File
	was   status // of the file, before it was written to
	at    int64  // what stands before is an opening and blanks already; 0 is nothing
	from  int64  // where the entries start; 0 until the first is written
	size  int64
	count int
	tail  uint32       // of the last entry, see tailOf
	first bool         // nothing was owed before
	clear func() error // makes way for it, at the last moment; nil if a rename does
}

// newDraft makes the file. One that a dead process left is removed.
func (q *Queue) newDraft() (*draft, error) {
	q.unstage()
	q.dropSpare()
	q.changes.Add(1)
	f, err := q.disk.createNew(q.path+newSuffix, q.freeName)
	if err != nil {
		return nil, &WriteError{Path: q.path, Before: true, Err: err}
	}
	d := &draft{q: q, file: f}
	if d.was, err = statusOf(f); err != nil {
		return nil, d.discard(err)
	}
	return d, nil
}

func (d *draft) Write(p []byte) (int, error) {
	n, err := d.q.disk.writeAt(d.file, p, d.size)
	d.size += int64(n)
	return n, err
}

// whole writes a list of one entry, also over another one.
func (d *draft) whole(text []byte) error {
	before, all := d.size, make([]byte, 0, d.was.size-d.at+int64(len(opening)+len(text)+len(closing)))
	if d.from == 0 {
		all = d.begin(all)
	}
	d.size, d.count, d.tail = d.from-int64(len(all)), 1, tailOf(text)
	_, err := d.Write(append(append(all, text...), closing...))
	if err == nil && d.size < before {
		err = d.q.disk.truncate(d.file, d.size)
	}
	return err
}

// begin appends what stands before the entries, which start behind it: an opening, and
// blanks in the place of what the file held before.
func (d *draft) begin(all []byte) []byte {
	if d.at == 0 {
		all = append(all, opening...)
	}
	if n := d.was.size - d.at - int64(len(all)); n > 0 {
		all = append(append(all, spaces(int(n-1))...), '\n')
	}
	d.from = d.at + int64(len(all))
	return all
}

// roomFor reports that the file has the room on the disk for a list of one entry.
func (d *draft) roomFor(text []byte) bool {
	return d.was.room >= d.was.size+int64(len(opening)+len(text)+seqRoom+len(closing))
}

func (d *draft) name() string { return d.q.path + newSuffix }

// lines writes a list of the entries that each is called with.
func (d *draft) lines(each func(add func(text []byte) error) error) error {
	w := bufio.NewWriterSize(d, wholeBytes)
	err := each(func(text []byte) error {
		sep := opening
		if d.count > 0 {
			sep = []byte(",\n")
		}
		d.count++
		d.tail = tailOf(text)
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
	return errors.Join(d.file.Close(), d.q.disk.remove(d.name()))
}

// publish puts the draft in the place of the list. It is the new list from then on.
func (d *draft) publish() error {
	step.At("queue: new file written")
	if d.clear != nil {
		if err := d.clear(); err != nil {
			return d.discard(err)
		}
		step.At("queue: way cleared")
	}
	now, err := d.was, error(nil)
	if now.links, err = d.place(d.was.links); err != nil {
		return &WriteError{Path: d.q.path, Before: d.clear == nil, Err: errors.Join(err, d.abandon())}
	}
	d.q.forget()
	step.At("queue: new file in place")
	d.q.known = sheet{file: d.file, status: now, size: d.size, from: max(d.from, int64(len(opening))), count: d.count, tail: d.tail}
	return nil
}

// place gives the draft, which has so many names, that of the list, and answers how many
// it has then, or 0. The first list keeps the other one, so that its file stays when the
// last removal takes this one away.
func (d *draft) place(names uint64) (links uint64, err error) {
	if d.first && names == 1 && d.q.disk.link(d.name(), d.q.path) == nil {
		return 2, nil
	}
	return 0, d.q.disk.rename(d.name(), d.q.path)
}

// unlink makes the queue empty.
func (q *Queue) unlink(sync bool) error {
	q.shed()
	q.retire()
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
