package queue

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/lock/step"
)

// compactBytes is how much blank a file may carry at its head, or a quarter of what
// it holds if that is more.
const compactBytes = 64 << 10

// Remove takes the messages out, wherever they stand: all of them, or none and
// [ErrNotPending]. The oldest alone goes in one write, whatever the depth; any
// other choice rewrites the file. With the last entry the file goes. A claim of a
// removed entry goes too.
//
// Nil promises what [Queue.Enqueue] promises, and so do the errors. If the process
// dies inside, the oldest entry may be there in part, and everything else is there
// or gone as a whole.
func (q *Queue) Remove(held *lock.Record, mids ...string) error {
	return q.remove(held, mids, q.dropNote)
}

// remove is Remove, with dropNote or spendNote for the note.
func (q *Queue) remove(held *lock.Record, mids []string, drop func(*lock.Record, []string, bool) error) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	l, err := q.first(held)
	if err != nil || len(mids) == 0 {
		return err
	}
	if l == nil {
		return notPending(q.path, mids[0])
	}
	oldest := l.entry.MID
	if len(mids) == 1 && mids[0] == oldest {
		if l, err = q.confirmFirst(held, l); err != nil {
			return err
		}
		err = q.change(held, func() error { return q.removeFirst(l) })
		if err == nil && l.last {
			q.spare.from = l.offset
		}
	} else {
		err = q.removeAny(held, mids)
	}
	if err == nil {
		// A claim names its message, so one that stays behind concerns no other: what
		// was asked for is done, whatever becomes of the note.
		_ = drop(held, mids, slices.Contains(mids, oldest))
	}
	return err
}

func notPending(path, mid string) error {
	return fmt.Errorf("%w: %s: not in %s", ErrNotPending, mid, path)
}

// confirmFirst looks whether the entry still stands where it is known to stand.
// Another handle that shares this hold may have removed it.
func (q *Queue) confirmFirst(held *lock.Record, l *line) (*line, error) {
	if q.known.seen {
		return l, nil
	}
	var brace [1]byte
	if _, err := q.known.file.ReadAt(brace[:], l.offset); err != nil || brace[0] == '{' {
		return l, err
	}
	mid := l.entry.MID
	q.forget()
	l, err := q.first(held)
	if err == nil && (l == nil || l.entry.MID != mid) {
		err = notPending(q.path, mid)
	}
	return l, err
}

// removeFirst takes out the oldest entry. If others stay, it is overwritten with
// spaces, its comma too, or left behind in a new file when the old one has become
// mostly blank.
func (q *Queue) removeFirst(l *line) error {
	if l.last {
		empty, err := q.known.blankTo(l.offset)
		if err != nil {
			return &WriteError{Path: q.path, Before: true, Err: err}
		}
		if !empty {
			return &CorruptError{Path: q.path, Err: errors.New("changed by a program that does not take the record lock")}
		}
		return q.unlink(false)
	}
	k := &q.known
	end := l.end()
	if end > max(q.compactAt, (k.size-end)/4) {
		err := q.compact(end)
		var w *WriteError
		if !errors.As(err, &w) {
			return err
		}
		// Without room for a new file the entry still goes in place.
		step.At("queue: compaction given up")
	}
	return q.blankFirst(l)
}

// blankFirst overwrites the oldest entry with spaces, its comma too.
func (q *Queue) blankFirst(l *line) error {
	k := &q.known
	step.At("queue: removal begins")
	if _, err := q.disk.writeAt(k.file, spaces(int(l.length)+1), l.offset); err != nil {
		return &WriteError{Path: q.path, Before: q.holdsAt(l.offset, []byte("{")), Err: err}
	}
	step.At("queue: removed")
	k.from, k.first = l.end(), nil
	if k.count > 0 {
		k.count--
	}
	return nil
}

// compact replaces the file by one that starts with the entry at an offset.
func (q *Queue) compact(from int64) error {
	k := q.known
	d, err := q.newDraft()
	if err != nil {
		return err
	}
	if k.count > 0 {
		k.count--
	}
	d.count, d.tail = k.count, k.tail
	_, err = d.Write(opening)
	if err == nil {
		_, err = io.CopyBuffer(d, io.NewSectionReader(k.file, from, k.size-from), make([]byte, wholeBytes))
	}
	if err != nil {
		return d.discard(err)
	}
	return d.publish()
}

// blankTo reports whether nothing stands before an offset but the opening bracket.
// It is the last look before a file is unlinked.
func (k *sheet) blankTo(offset int64) (bool, error) {
	r := io.NewSectionReader(k.file, int64(len(opening)), offset-int64(len(opening)))
	scratch := spareScratches.Get().(*[spareBytes]byte)
	defer spareScratches.Put(scratch)
	buf := scratch[:min(r.Size(), spareBytes)]
	if r.Size() > spareBytes {
		buf = make([]byte, min(r.Size(), blankRead))
	}
	for {
		n, err := r.Read(buf)
		if bytes.Count(buf[:n], []byte(" "))+bytes.Count(buf[:n], []byte("\n")) < n {
			return false, nil
		}
		if err == io.EOF || len(buf) == 0 {
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
}

// removeAny rewrites the file without the given messages.
func (q *Queue) removeAny(held *lock.Record, mids []string) error {
	d, err := q.newDraft()
	if err != nil {
		return err
	}
	missing := make(map[string]bool, len(mids)) // until it is found
	for _, mid := range mids {
		missing[mid] = true
	}
	err = d.lines(func(add func([]byte) error) error {
		return q.known.each(func(raw []byte) error {
			if mid, ok := ownID(raw); ok {
				if _, chosen := missing[string(mid)]; !chosen {
					return add(raw)
				}
			}
			e, err := decode(raw)
			if err != nil {
				return &CorruptError{Path: q.path, Err: err}
			}
			if _, chosen := missing[e.MID]; chosen {
				missing[e.MID] = false
				return nil
			}
			return add(raw)
		})
	})
	if i := slices.IndexFunc(mids, func(mid string) bool { return missing[mid] }); err == nil && i >= 0 {
		return errors.Join(notPending(q.path, mids[i]), d.abandon())
	}
	if errors.Is(err, ErrCorrupt) {
		return errors.Join(err, d.abandon())
	}
	if err != nil {
		return d.discard(err)
	}
	if d.count == 0 {
		if err := d.abandon(); err != nil {
			return err
		}
		return q.change(held, func() error { return q.unlink(false) })
	}
	return q.change(held, d.publish)
}

// each calls do with every entry of the file, in order.
func (k *sheet) each(do func(raw []byte) error) error {
	size := k.size - int64(len(closing)) + 1 - k.from
	r := bufio.NewReaderSize(io.NewSectionReader(k.file, k.from, size), wholeBytes)
	for {
		text, err := r.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		text = bytes.TrimSuffix(text[:len(text)-1], []byte(","))
		if len(bytes.TrimLeft(text, " ")) == 0 {
			continue
		}
		if err := do(text); err != nil {
			return err
		}
	}
}
