package queue

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/docket-go/docket/lock"
)

// wholeBytes bounds the file that a handle reads whole when it meets it first. Of a
// larger one it reads both ends, and trusts that the lock says when somebody died.
const wholeBytes = 64 << 10

var errNotPlain = errors.New("not a plain file")

// openPlain opens a plain file and nothing that a path could lead to instead.
func openPlain(path string, flag int) (*os.File, os.FileInfo, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s: %w", path, errNotPlain)
	}
	f, err := os.OpenFile(path, flag|openFlags, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err = f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w", path, errNotPlain)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// A sheet is what a handle knows of the file. It holds while the file is the same,
// of the same size, and nobody else announced a change.
type sheet struct {
	file       *os.File // nil: nothing is known
	status     status   // of the file, as it was looked at by its name
	size       int64
	generation uint64
	look       look   // when it was brought up to date last; without a file: when there was none
	from       int64  // the start of a line; all before it is blank
	first      *line  // the oldest entry; nil until it was read
	seen       bool   // since the last load, the oldest entry was seen where it is known to stand
	count      int    // entries; -1 until they were counted
	tail       uint32 // see tailOf
}

// A line is an entry and its place.
type line struct {
	offset int64
	length int64 // without the comma
	last   bool  // there is no comma
	entry  Entry
}

// end is the offset of the first byte behind the line.
func (l *line) end() int64 {
	if l.last {
		return l.offset + l.length + 1
	}
	return l.offset + l.length + 2
}

// forget gives up what is known of the file. What was read from it is not lost by
// an error of the close.
func (q *Queue) forget() {
	if q.known.file != nil {
		q.known.file.Close()
	}
	q.known = sheet{}
}

// load brings what is known up to date. Afterwards either there is no file, or it
// is known, of this package's form, and has an entry. A file of another writer is
// brought into the form, an edit that leaves nothing in doubt is finished.
func (q *Queue) load(held *lock.Record) error {
	if err := held.Covers(q.dir); err != nil {
		return err
	}
	k := &q.known
	if k.seen = k.look == q.look(held); k.seen {
		k.generation = held.Generation()
		return nil
	}
	err := q.bring(held)
	if err != nil {
		q.forget()
	}
	return err
}

// bring brings what is known up to date by looking at the file.
func (q *Queue) bring(held *lock.Record) error {
	k := &q.known
	now, err := statusAt(q.path)
	if errors.Is(err, os.ErrNotExist) {
		q.retire()
		k.look = q.look(held)
		return nil
	}
	if err != nil {
		return err
	}
	if k.file == nil || !now.same(&k.status) || now.size < k.size {
		return q.meet(held)
	}
	k.status = now
	if k.size == now.size && k.current(held) {
		k.look, k.generation = q.look(held), held.Generation()
		return nil
	}
	// Blank stays blank in one file, so from still holds.
	*k = sheet{file: k.file, status: now, size: now.size, generation: held.Generation(), look: q.look(held), from: k.from, count: -1}
	if m, marked := held.Mark(); marked && m.Size == k.size {
		k.from = max(k.from, m.From)
	}
	tail, ok, err := framed(k.file, k.size)
	k.tail = tail
	if err == nil && !ok {
		return q.reread(held)
	}
	return err
}

// current reports whether what is known is still so, for all that the lock says. A
// change that was announced in the hold in which the file was looked at is one of
// the caller's own; if another handle took part in it, the oldest entry shows that.
func (k *sheet) current(held *lock.Record) bool {
	if k.generation == held.Generation() {
		return true
	}
	if k.look.held != held {
		return false
	}
	oldest := k.from
	if k.first != nil {
		oldest = k.first.offset
	}
	var brace [1]byte
	_, err := k.file.ReadAt(brace[:], oldest)
	k.seen = err == nil && brace[0] == '{'
	return k.seen
}

// meet opens a file that the handle has not seen.
func (q *Queue) meet(held *lock.Record) error {
	q.forget()
	f, _, err := q.disk.open(q.path, os.O_RDWR)
	if errors.Is(err, errNotPlain) {
		return &CorruptError{Path: q.path, Err: errNotPlain}
	}
	if err != nil {
		return err
	}
	now, err := statusOf(f)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	k := &q.known
	*k = sheet{file: f, status: now, size: now.size, generation: held.Generation(), look: q.look(held), from: int64(len(opening)), count: -1}
	if k.size <= wholeBytes || held.Interrupted() {
		return q.reread(held)
	}
	tail, ok, err := framed(f, k.size)
	if err == nil && ok {
		k.tail = tail
		ok, err = k.seek()
	}
	if err == nil && !ok {
		return q.reread(held)
	}
	return err
}

// framed reports whether a file starts and ends as this package writes it, with an
// entry at the end, whose tail it returns.
func framed(f io.ReaderAt, size int64) (tail uint32, ok bool, err error) {
	least := len(opening) + len("}") + len(closing)
	if size < int64(least) {
		return 0, false, nil
	}
	buf := make([]byte, min(int64(least+tailBytes), size))
	start, end := buf[:len(opening)], buf[len(opening):]
	if _, err := f.ReadAt(start, 0); err != nil {
		return 0, false, err
	}
	if _, err := f.ReadAt(end, size-int64(len(end))); err != nil {
		return 0, false, err
	}
	line, ended := bytes.CutSuffix(end, closing)
	line = line[bytes.LastIndexByte(line, '\n')+1:]
	return tailOf(line), ended && bytes.HasSuffix(line, []byte("}")) && bytes.HasPrefix(start, opening), nil
}

// reread reads the whole file, for want of a shorter way to know that it is as it
// should be, and brings it into this package's form if nothing is in doubt. Only
// when the lock says that a holder died is a missing end the end of an edit: behind
// a clean lock the file was cut, and nobody can tell what it held.
func (q *Queue) reread(held *lock.Record) error {
	k := &q.known
	s := scan(k.file, k.size, q.readBytes)
	var first *line
	var tail uint32
	for {
		e, found, err := s.next()
		if err != nil {
			return err
		}
		if !found {
			break
		}
		if first == nil {
			first = &line{offset: e.offset, length: int64(len(e.raw)), entry: e.entry}
		}
		tail = tailOf(e.raw)
	}
	if s.own {
		first.last = s.count == 1
		k.from, k.count, k.first, k.tail = first.offset, s.count, first, tail
		return nil
	}
	if len(s.faults) > 0 && !(held.Interrupted() && s.certain()) {
		q.forget()
		return Inspection{Path: q.path, Faults: q.located(s.faults)}.Err()
	}
	return q.change(held, func() error { return q.renew(s.count) })
}

// located says of faults that they are of the list.
func (q *Queue) located(faults []Fault) []Fault {
	for i := range faults {
		faults[i].Path = q.path
	}
	return faults
}

// renew puts the entries of the known file, which has so many, into a new one of this
// package's form. One that somebody without the lock damaged meanwhile stays as it is.
func (q *Queue) renew(count int) error {
	if count == 0 {
		return q.unlink(false)
	}
	s := scan(q.known.file, q.known.size, q.readBytes)
	d, err := q.newDraft()
	if err != nil {
		return err
	}
	var flat bytes.Buffer
	err = d.lines(func(add func([]byte) error) error {
		for {
			e, found, err := s.next()
			if err == nil && !found && s.count < count {
				err = Inspection{Path: q.path, Faults: q.located(s.faults)}.Err()
			}
			if err != nil || !found {
				return err
			}
			flat.Reset()
			if err := json.Compact(&flat, e.raw); err != nil {
				return err
			}
			if err := add(flat.Bytes()); err != nil {
				return err
			}
		}
	})
	if err != nil {
		return d.discard(err)
	}
	return d.publish()
}
