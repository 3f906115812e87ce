package queue

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/docket-go/docket/lock"
)

// Rebuild replaces the list, whatever is in it, by one that holds entries, in their
// order; with none it removes it. It is for who knows from elsewhere what is owed:
// typically what [Queue.Inspect] could read, less what was delivered, plus what was
// lost. The claim of a message survives while the message is in entries, unless a doubt
// stands for it. If it cannot be read, the oldest of entries counts as claimed.
//
// A damaged list is first copied beside, and aside is the path of the copy; what an
// interrupted edit left is not worth one. What is not a plain file, and a note of the
// attempts that makes no sense, is moved; aside is the path of the note if the list
// was sound. Nil promises that list and copy are on stable storage. [ErrInvalid] and
// a [*WriteError] with Before leave the list as it was. If the process dies inside,
// the old list or the new one is there, whole; only in the place of what is not a
// plain file there may be none, and then the record lock is interrupted.
func (q *Queue) Rebuild(held *lock.Record, entries []Entry) (aside string, err error) {
	return q.RebuildFrom(held, func(yield func(Entry, error) bool) {
		for _, e := range entries {
			if !yield(e, nil) {
				return
			}
		}
	})
}

// RebuildFrom is [Queue.Rebuild] in memory that grows with the faults and the longest
// entry, and not with the depth. An error that entries yields leaves the list as it was,
// and is returned. Entries may read the queue through a [Reading], and must not call
// anything that takes the held lock.
func (q *Queue) RebuildFrom(held *lock.Record, entries iter.Seq2[Entry, error]) (aside string, err error) {
	if err := held.Covers(q.dir); err != nil {
		return "", err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.forget()
	in, err := q.Scan(nil)
	if err != nil {
		return "", err
	}
	n, _ := q.note(held) // one that makes no sense is renewed below
	told := false
	d, oldest, err := q.newList(n.telling(entries, &told))
	if err != nil {
		return "", err
	}
	err = q.change(held, func() (err error) {
		aside, err = q.rebuild(in, d)
		return err
	})
	if path := in.notePath(); err == nil && (in.has(LostNote, path) || in.has(Damaged, path)) {
		var moved string
		if moved, err = q.renewNote(held, oldest); aside == "" {
			aside = moved
		}
	} else if err == nil && told {
		err = q.writeNote(held, note{})
	}
	return aside, err
}

// telling passes the entries on, and notes in told that a doubt of one of them says all
// that the note says: that it was claimed, as the claim that is left behind the last
// entry says too. The doubt also says why.
func (n note) telling(entries iter.Seq2[Entry, error], told *bool) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for e, err := range entries {
			*told = *told || n.LastError == "" && e.Doubt != "" && n.about(e.MID)
			if !yield(e, err) {
				return
			}
		}
	}
}

// newList writes the draft of a list, and syncs it; it is nil for none. It returns the id
// of the oldest entry too.
func (q *Queue) newList(entries iter.Seq2[Entry, error]) (d *draft, oldest string, err error) {
	next, stop := iter.Pull2(entries)
	defer stop()
	e, err, more := next()
	if err != nil || !more {
		return nil, "", err
	}
	oldest = e.MID
	if d, err = q.newDraft(); err != nil {
		return nil, "", err
	}
	var theirs error
	err = d.lines(func(add func([]byte) error) error {
		for ; more; e, theirs, more = next() {
			var text []byte
			if theirs == nil {
				text, theirs = encode(e)
			}
			if theirs != nil {
				return theirs
			}
			if err := add(text); err != nil {
				return err
			}
		}
		return nil
	})
	if theirs != nil {
		return nil, "", errors.Join(theirs, d.abandon())
	}
	if err == nil {
		err = q.disk.sync(d.file)
	}
	if err != nil {
		return nil, "", d.discard(err)
	}
	return d, oldest, nil
}

// rebuild puts a draft in the place of the list, and no list there if it is nil.
func (q *Queue) rebuild(in Inspection, d *draft) (aside string, err error) {
	var clear func() error
	if in.has(Damaged, q.path) {
		aside, err = q.copyAside()
		if errors.Is(err, errNotPlain) {
			aside, err = q.freeName(q.path), nil
			clear = func() error { return q.disk.rename(q.path, aside) }
		}
	}
	switch {
	case err != nil && d != nil:
		return "", d.discard(err)
	case err != nil:
		return "", &WriteError{Path: q.path, Before: true, Err: err}
	case d == nil && clear != nil:
		if err := clear(); err != nil {
			return "", &WriteError{Path: q.path, Before: true, Err: err}
		}
	}
	if d == nil {
		return aside, q.unlink(true)
	}
	d.clear = clear
	if err := d.publish(); err != nil {
		return aside, err
	}
	return aside, q.disk.syncDir(q.dir)
}

// freeName is a name beside path for what stands there and must not stay.
func (q *Queue) freeName(path string) string {
	base := path + ".damaged-" + q.now().UTC().Format("20060102T150405.000Z")
	for i, name := 1, base; ; i++ {
		if _, err := os.Lstat(name); err != nil {
			return name
		}
		name = fmt.Sprintf("%s-%d", base, i)
	}
}

// copyAside copies the list beside itself.
func (q *Queue) copyAside() (string, error) {
	from, _, err := q.disk.open(q.path, os.O_RDONLY)
	if err != nil {
		return "", err
	}
	defer from.Close()
	aside := q.freeName(q.path)
	to, err := q.disk.create(aside)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(to, from)
	if err = errors.Join(err, q.disk.sync(to), to.Close()); err != nil {
		return "", errors.Join(err, q.disk.remove(aside))
	}
	return aside, nil
}

// renewNote puts a note that can be read in the place of one that cannot. The list is
// new already: until the note is, its oldest entry counts as claimed too.
func (q *Queue) renewNote(held *lock.Record, oldest string) (aside string, err error) {
	broken, err := q.readNote()
	if err != nil {
		return "", err
	}
	var next note
	if oldest != "" {
		next = noteOf(oldest)
		next.Claimed, next.LastError = &broken.since, broken.reason()
	}
	q.heads.forget()
	aside = q.freeName(q.heads.path)
	if err := q.disk.keepAside(q.heads.path, aside); err != nil {
		return "", &WriteError{Path: q.heads.path, Before: true, Err: err}
	}
	return aside, q.writeNote(held, next)
}

// keepAside gives what stands at path another name. A plain file, and a pipe, keep
// the old one too, until another file takes it: there is no moment without a note.
func (d disk) keepAside(path, aside string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() && info.Mode()&os.ModeSymlink == 0 && d.link(path, aside) == nil {
		return nil
	}
	return d.rename(path, aside)
}
