package queue

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/lock/step"
)

// noteBytes is the size of pending.head. It lies within one page, so that a kill
// cannot tear the write of it.
const noteBytes = 2048

// A note is what pending.head says: the attempts at the message that it names.
type note struct {
	MID         string     `json:"mid"`
	Attempts    int        `json:"attempts"`
	Claimed     *time.Time `json:"claimed"`
	LastAttempt *time.Time `json:"lastAttempt"`
	LastError   string     `json:"lastError"`

	broken error     // the file is there and makes no sense
	since  time.Time // when a broken file was written
}

// applyTo adds what the note says to the oldest entry. One that makes no sense may
// have been the claim of it.
func (n note) applyTo(e *Entry) {
	if n.broken != nil {
		e.Claimed = n.since
		e.LastError = fmt.Sprintf("%s makes no sense (%v): whether the message was handed over is not known", claimFile, n.broken)
		return
	}
	if n.MID != e.MID {
		return
	}
	e.Attempts, e.LastError = n.Attempts, n.LastError
	if n.Claimed != nil {
		e.Claimed = *n.Claimed
	}
	if n.LastAttempt != nil {
		e.LastAttempt = *n.LastAttempt
	}
}

// bytes is the note as it is stored. A reason that does not fit is cut in it too.
func (n *note) bytes() ([]byte, error) {
	for {
		text, err := marshal(n)
		if err != nil {
			return nil, err
		}
		over := len(text) - (noteBytes - 1)
		if over <= 0 {
			data := bytes.Repeat([]byte(" "), noteBytes)
			copy(data, text)
			data[noteBytes-1] = '\n'
			return data, nil
		}
		if n.LastError == "" {
			return nil, fmt.Errorf("%w: message %s: its id is too long for a claim", ErrInvalid, n.MID)
		}
		// A byte of it takes up to six in the file.
		keep := min(len(n.LastError)-(over+5)/6, noteBytes)
		n.LastError = strings.ToValidUTF8(n.LastError[:max(0, keep)], "")
	}
}

func parseNote(data []byte, written time.Time) note {
	var n note
	switch {
	case len(data) != noteBytes:
		n.broken = fmt.Errorf("%d bytes, not %d", len(data), noteBytes)
	default:
		n.broken = json.Unmarshal(bytes.TrimRight(data, " \n"), &n)
	}
	if n.broken != nil {
		n = note{broken: n.broken, since: written}
	}
	return n
}

// heads is what a handle knows of pending.head.
type heads struct {
	path string
	file *os.File
	info os.FileInfo
	held *lock.Record // the hold in which note is what the file says
	note note
	raw  []byte // what note was read from, or written as
}

func (h *heads) forget() {
	if h.file != nil {
		h.file.Close()
	}
	*h = heads{path: h.path}
}

// note returns what pending.head says. No such file is a note of nothing.
func (q *Queue) note(held *lock.Record) (note, error) {
	h := &q.heads
	if h.held == held {
		return h.note, nil
	}
	info, err := os.Lstat(h.path)
	if err == nil && (h.file == nil || !os.SameFile(info, h.info)) {
		h.forget()
		h.file, h.info, err = openPlain(h.path, os.O_RDWR)
	}
	switch {
	case errors.Is(err, os.ErrNotExist):
		h.forget()
		h.held, h.note = held, note{}
		return h.note, nil
	case err != nil:
		return note{}, err
	}
	scratch := scratches.Get().(*[firstRead]byte)
	defer scratches.Put(scratch)
	n, err := h.file.ReadAt(scratch[:noteBytes+1], 0)
	if err != nil && err != io.EOF {
		return note{}, err
	}
	if raw := scratch[:n]; h.raw == nil || !bytes.Equal(raw, h.raw) {
		h.note, h.raw = parseNote(raw, info.ModTime()), bytes.Clone(raw)
	}
	h.held = held
	return h.note, nil
}

// write stores a note, in one write over the old one. The first, and one that
// follows a broken one, comes in the place of the file as a whole.
func (q *Queue) writeNote(held *lock.Record, n note) error {
	data, err := n.bytes()
	if err != nil {
		return err
	}
	h := &q.heads
	h.held, h.raw = nil, nil
	if h.file == nil || h.note.broken != nil {
		err = q.replaceNote(data)
	} else {
		_, err = q.writeAt(h.file, data, 0)
	}
	if err != nil {
		h.forget()
		return &WriteError{Path: h.path, Before: true, Err: err}
	}
	step.At("queue: attempts noted")
	h.held, h.note, h.raw = held, n, data
	return nil
}

func (q *Queue) replaceNote(data []byte) error {
	h := &q.heads
	h.forget()
	f, err := createNew(h.path + newSuffix)
	if err != nil {
		return err
	}
	_, err = q.writeAt(f, data, 0)
	info, statErr := f.Stat()
	if err = errors.Join(err, statErr); err == nil {
		step.At("queue: first note written")
		err = os.Rename(f.Name(), h.path)
	}
	if err != nil {
		return errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	h.file, h.info = f, info
	return nil
}

// attempt changes the note about the oldest entry, which must be mid.
func (q *Queue) attempt(held *lock.Record, mid string, edit func(n *note, now time.Time)) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	l, err := q.first(held)
	if err != nil {
		return err
	}
	if l == nil || l.entry.MID != mid {
		return notPending(q.path, mid)
	}
	n, err := q.note(held)
	if err != nil {
		return err
	}
	switch since := n.since; {
	case n.broken != nil:
		n = note{MID: mid, Claimed: &since}
	case n.MID != mid:
		n = note{MID: mid}
	}
	edit(&n, q.now().UTC().Round(0))
	return q.writeNote(held, n)
}

// dropNote empties the note if it is about a message that was just removed, or may
// be about the oldest one that was.
func (q *Queue) dropNote(held *lock.Record, mids []string, oldest bool) error {
	n, err := q.note(held)
	if err == nil && (n.broken != nil && oldest || n.MID != "" && slices.Contains(mids, n.MID)) {
		err = q.writeNote(held, note{})
	}
	return err
}

// Claim notes that a hand-over of the oldest entry, which must be mid, begins. From
// then on the entry is unconfirmed, until it is removed or one of [Queue.Refused]
// and [Queue.Unclaim] says that nothing arrived.
//
// Nil promises that the claim outlives this process; it is not synced. The error is
// [ErrNotPending] when mid is not the oldest entry, or as for [Queue.Head]; the
// claim is as before then. A death inside leaves the old note or the new one.
func (q *Queue) Claim(held *lock.Record, mid string) error {
	return q.attempt(held, mid, func(n *note, now time.Time) {
		n.Attempts++
		n.Claimed, n.LastAttempt, n.LastError = &now, &now, ""
	})
}

// Refused notes that an attempt at the oldest entry, which must be mid, ended with
// nothing handed over, and why. A claim ends; without one, this is an attempt too.
// Promises and errors are those of [Queue.Claim].
func (q *Queue) Refused(held *lock.Record, mid, reason string) error {
	return q.attempt(held, mid, func(n *note, now time.Time) {
		if n.Claimed == nil {
			n.Attempts++
		}
		n.Claimed, n.LastAttempt, n.LastError = nil, &now, reason
	})
}

// Unconfirmed notes why it is not known whether the oldest entry, which must be mid,
// was handed over. A claim stays; without one, this makes one. Promises and errors
// are those of [Queue.Claim].
func (q *Queue) Unconfirmed(held *lock.Record, mid, reason string) error {
	return q.attempt(held, mid, func(n *note, now time.Time) {
		if n.Claimed == nil {
			n.Attempts++
			n.Claimed, n.LastAttempt = &now, &now
		}
		n.LastError = reason
	})
}

// Unclaim takes the claim of the oldest entry, which must be mid, back: it is known
// by now that nothing arrived. Promises and errors are those of [Queue.Claim].
func (q *Queue) Unclaim(held *lock.Record, mid string) error {
	return q.attempt(held, mid, func(n *note, _ time.Time) { n.Claimed = nil })
}

// addNote adds what is known of the attempts to the oldest of the entries, without
// the record lock.
func (q *Queue) addNote(entries []Entry) error {
	if len(entries) == 0 {
		return nil
	}
	f, info, err := openPlain(q.heads.path, os.O_RDONLY)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	buf := make([]byte, noteBytes+1)
	n, err := f.ReadAt(buf, 0)
	if err != nil && err != io.EOF {
		return err
	}
	parseNote(buf[:n], info.ModTime()).applyTo(&entries[0])
	return nil
}
