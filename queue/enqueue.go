package queue

import (
	"bytes"
	"fmt"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/lock/step"
)

// Reserve makes sure that e can be enqueued: that it is valid, that the file makes
// sense and is not full, and that there is room for it on the disk. Who writes a
// record of the message first calls Reserve before that, so that the Enqueue behind
// it, in the same hold, has no reason left to fail.
//
// Errors are those of [Queue.Enqueue]; nothing is owed through a Reserve. Where the
// file system cannot set room aside, Reserve does without. If the process dies
// before the Enqueue, room or a file pending.json.new is left, which the next use
// takes over. On a disk that is almost full the room for a claim is taken too.
func (q *Queue) Reserve(held *lock.Record, e Entry) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	text, err := q.accept(held, e)
	if err != nil {
		return err
	}
	if q.known.file == nil {
		err := q.stage(held, text)
		q.known.look = q.look(held)
		return err
	}
	end := q.known.size + int64(len(text)+seqRoom+2)
	tight, err := reserve(q.known.file, q.known.status, end)
	if err == nil && tight {
		err = q.reserveNote(held)
	}
	if err != nil {
		return &WriteError{Path: q.path, Before: true, Err: err}
	}
	return nil
}

// Enqueue adds e behind everything that is owed, in one write whatever the depth.
// The first entry makes the file. What the entry says of attempts is not stored,
// and a message that is owed already is not noticed: ids are the caller's to keep. One
// that comes again behind the last that was owed may count as claimed.
//
// Nil promises that every reader and every later holder of the record lock sees the
// entry, also after the death of this process; it is not synced. [ErrInvalid],
// [ErrFull], a [*CorruptError] and a [*WriteError] with Before leave the file as it
// was. If the process dies inside, or a [*WriteError] says so, the entry may be
// there in part: the record lock is [lock.Record.Interrupted], and [Queue.Inspect]
// shows it.
func (q *Queue) Enqueue(held *lock.Record, e Entry) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	text, err := q.accept(held, e)
	if err != nil {
		return err
	}
	if q.known.file == nil {
		return q.create(held, text, e)
	}
	return q.change(held, func() error { return q.add(text) })
}

// Empty reports that nothing is owed. False also stands for a file that makes no sense,
// of which Reserve says more. It costs a look at the file's name, unless something else
// looked in this hold.
func (q *Queue) Empty(held *lock.Record) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.load(held) == nil && q.known.file == nil
}

// accept returns the line of an entry that may be added now.
func (q *Queue) accept(held *lock.Record, e Entry) ([]byte, error) {
	if len(e.MID) > MaxMIDBytes {
		return nil, fmt.Errorf("%w: its id has %d bytes, %d are allowed", ErrInvalid, len(e.MID), MaxMIDBytes)
	}
	text, err := encode(e)
	if err == nil && len(text) > MaxEntryBytes {
		err = fmt.Errorf("%w: message %s: its entry has %d bytes, %d are allowed", ErrInvalid, e.MID, len(text), MaxEntryBytes)
	}
	if err != nil {
		return nil, err
	}
	if err := q.load(held); err != nil {
		return nil, err
	}
	if q.max <= 0 {
		return text, nil
	}
	n, err := q.counted()
	if err == nil && n >= q.max {
		err = fmt.Errorf("%w: %s holds %d messages: deliver or revoke some first", ErrFull, q.path, n)
	}
	return text, err
}

// counted is the number of entries, counted anew only if somebody else changed it.
func (q *Queue) counted() (int, error) {
	k := &q.known
	switch {
	case k.file == nil:
		return 0, nil
	case k.count >= 0:
		return k.count, nil
	}
	n, ok, err := countLines(k.file, k.size)
	if ok && err == nil {
		k.count = n
	}
	return n, err
}

// add writes an entry over the closing bracket.
func (q *Queue) add(text []byte) error {
	k := &q.known
	at := k.size - int64(len(closing))
	full := make([]byte, 0, len(text)+2+len(closing))
	full = append(append(append(full, ",\n"...), text...), closing...)
	step.At("queue: enqueue begins")
	if _, err := q.disk.writeAt(k.file, full, at); err != nil {
		return &WriteError{Path: q.path, Before: q.restore(at), Err: err}
	}
	step.At("queue: enqueued")
	k.size += int64(len(text) + 2)
	k.tail = tailOf(text)
	if k.count >= 0 {
		k.count++
	}
	if k.first != nil {
		k.first.last = false
	}
	return nil
}

// restore puts the closing bracket back after a write that failed. How much of it
// was written is read from the file: the count that comes with an error of
// [os.File.WriteAt] leaves out what a short write did before the error.
func (q *Queue) restore(at int64) bool {
	if info, err := q.known.file.Stat(); err == nil && info.Size() == q.known.size && q.holdsAt(at, closing) {
		return true
	}
	if _, err := q.disk.writeAt(q.known.file, closing, at); err != nil {
		return false
	}
	return q.disk.truncate(q.known.file, q.known.size) == nil
}

// holdsAt reports whether these bytes stand in the file.
func (q *Queue) holdsAt(at int64, want []byte) bool {
	got := make([]byte, len(want))
	_, err := q.known.file.ReadAt(got, at)
	return err == nil && bytes.Equal(got, want)
}

// seqRoom is how much longer a line may be than that of the same entry without its
// sequence, which is not known when room is made.
const seqRoom = 32

// A staged file is one that has room for a first entry, which Enqueue will publish.
type staged struct {
	look  look // while it stands, nobody else has begun a file of that name
	draft *draft
	text  []byte // what is written already
}

// stage makes room for the file of a first entry, under another name: in the one that is
// kept, or in a new one. Where it is not known to have the room, the entry is written.
func (q *Queue) stage(held *lock.Record, text []byte) error {
	q.unstage()
	q.changes.Add(1)
	d := q.reuse()
	if d != nil && d.roomFor(text) {
		q.staged = &staged{look: q.look(held), draft: d}
		return nil
	}
	if d == nil {
		var err error
		if d, err = q.newDraft(); err != nil {
			return err
		}
	}
	if err := d.whole(text); err != nil {
		return d.discard(err)
	}
	q.staged = &staged{q.look(held), d, bytes.Clone(text)}
	return nil
}

func (q *Queue) unstage() {
	if q.staged != nil {
		q.staged.draft.file.Close()
		q.staged = nil
	}
}

// create publishes the file of the first entry. What was reserved is mostly the same
// entry without its sequence, and the same file serves.
func (q *Queue) create(held *lock.Record, text []byte, e Entry) error {
	s := q.staged
	if s == nil || s.look != q.look(held) {
		if err := q.stage(held, text); err != nil {
			return err
		}
		s = q.staged
	}
	q.staged = nil
	if !bytes.Equal(s.text, text) {
		if err := s.draft.whole(text); err != nil {
			return s.draft.discard(err)
		}
	}
	s.draft.first = true
	if err := q.change(held, s.draft.publish); err != nil {
		return err
	}
	q.known.first = &line{s.draft.from, int64(len(text)), true, e.stored()}
	return nil
}
