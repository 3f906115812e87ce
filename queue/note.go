package queue

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
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
	MID         string     `json:"mid"`    // empty if Digest is not
	Digest      string     `json:"digest"` // of an id that is too long to stand here
	Attempts    int        `json:"attempts"`
	Claimed     *time.Time `json:"claimed"`
	LastAttempt *time.Time `json:"lastAttempt"`
	LastError   string     `json:"lastError"`

	broken error     // what is there makes no sense
	stuck  bool      // and it is nothing that a note could be written over
	since  time.Time // when a broken file was written
}

// fault is what a broken note is to an inspection.
func (n note) fault() FaultKind {
	if n.stuck {
		return Damaged
	}
	return LostNote
}

// reason says what a broken note means to the oldest entry.
func (n note) reason() string {
	return fmt.Sprintf("%s makes no sense (%v): whether the message was handed over is not known", claimFile, n.broken)
}

// noteOf is a note of nothing about a message.
func noteOf(mid string) note {
	if len(mid) <= MaxMIDBytes {
		return note{MID: mid}
	}
	return note{Digest: fmt.Sprintf("%x", sha256.Sum256([]byte(mid)))}
}

// about reports whether the note is one about a message.
func (n note) about(mid string) bool {
	if n.broken != nil || n.MID == mid {
		return n.broken == nil
	}
	digest := noteOf(mid).Digest
	return digest != "" && digest == n.Digest
}

// applyTo adds what the note says to the oldest entry. One that makes no sense may
// have been the claim of it.
func (n note) applyTo(e *Entry) {
	if n.broken != nil {
		e.Claimed, e.LastError = n.since, n.reason()
		return
	}
	if !n.about(e.MID) {
		if e.Doubt != "" {
			e.Claimed, e.LastError = e.doubted(), e.Doubt
		}
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

// bytes is the note as it is stored, in buf. A reason that does not fit is cut in it
// too.
func (n *note) bytes(buf *[noteBytes]byte) ([]byte, error) {
	for {
		text, err := n.text(buf[:0])
		if err != nil {
			return nil, err
		}
		over := len(text) - (noteBytes - 1)
		if over <= 0 {
			return append(append(text, spaces(-over)...), '\n'), nil
		}
		// A byte of it takes up to six in the file.
		keep := min(len(n.LastError)-(over+5)/6, noteBytes)
		n.LastError = strings.ToValidUTF8(n.LastError[:max(0, keep)], "")
	}
}

// text appends the note as JSON.
func (n *note) text(buf []byte) ([]byte, error) {
	w := lineWriter{line: buf}
	w.string(`{"mid":`, n.MID)
	if n.Digest != "" {
		w.string(`,"digest":`, n.Digest)
	}
	w.raw(`,"attempts":`, strconv.AppendInt(nil, int64(n.Attempts), 10))
	w.time(`,"claimed":`, n.Claimed)
	w.time(`,"lastAttempt":`, n.LastAttempt)
	w.string(`,"lastError":`, n.LastError)
	w.raw(sumName, strconv.AppendUint(nil, uint64(checksum(w.line)), 10))
	w.raw(`}`, nil)
	return w.line, w.err
}

func (w *lineWriter) time(name string, t *time.Time) {
	switch {
	case t == nil:
		w.raw(name, []byte("null"))
	case t.Year() < 0 || t.Year() > 9999:
		w.value(name, t) // which says why that is no time
	default:
		w.raw(name, t.UTC().AppendFormat(make([]byte, 0, 40), `"`+time.RFC3339Nano+`"`))
	}
}

func parseNote(data []byte, written time.Time) note {
	var n note
	text := bytes.TrimRight(data, " \n")
	switch {
	case len(data) != noteBytes:
		n.broken = fmt.Errorf("%d bytes, not %d", len(data), noteBytes)
	case !soundNote(text):
		n.broken = errors.New("it is not what was written")
	default:
		n.broken = json.Unmarshal(text, &n)
	}
	if n.broken != nil {
		n = note{broken: n.broken, since: written}
	}
	return n
}

// soundNote holds a note against its checksum. Those of earlier versions have none.
func soundNote(text []byte) bool {
	at := bytes.LastIndex(text, []byte(sumName))
	if at < 0 {
		return true
	}
	sum := strconv.AppendUint([]byte(sumName), uint64(checksum(text[:at])), 10)
	return string(text[at:]) == string(sum)+"}"
}

// heads is what a handle knows of pending.head.
type heads struct {
	path   string
	file   *os.File
	status status
	held   *lock.Record // the hold in which note is what the file says
	note   note
	raw    []byte // what note was read from, or written as; in buf, or nil
	buf    [noteBytes]byte

	// spent means that note is about a message that was handed over and removed: it says
	// nothing any more, whatever entry bears that id.
	spent bool
}

// forget leaves the path alone, which readers without the record lock look at.
func (h *heads) forget() {
	if h.file != nil {
		h.file.Close()
	}
	h.file, h.status, h.held = nil, status{}, nil
	h.note, h.raw, h.spent = note{}, nil, false
}

// note returns what pending.head says. No such file is a note of nothing.
func (q *Queue) note(held *lock.Record) (note, error) {
	h := &q.heads
	if h.held == held {
		return h.said(), nil
	}
	now, err := statusAt(h.path)
	if err == nil && (h.file == nil || !now.same(&h.status)) {
		h.forget()
		if h.file, _, err = q.disk.open(h.path, os.O_RDWR); err == nil {
			now, err = statusOf(h.file)
			h.status = now
		}
	}
	switch {
	case errors.Is(err, os.ErrNotExist):
		h.forget()
		h.held, h.note = held, note{}
		return h.note, nil
	case errors.Is(err, errNotPlain), errors.Is(err, os.ErrPermission):
		return note{}, &CorruptError{Path: h.path, Err: err}
	case err != nil:
		return note{}, err
	}
	scratch := scratches.Get().(*[firstRead]byte)
	defer scratches.Put(scratch)
	n, err := h.file.ReadAt(scratch[:min(noteBytes+1, now.size)], 0)
	if err != nil && err != io.EOF {
		return note{}, err
	}
	if raw := scratch[:n]; h.raw == nil || !bytes.Equal(raw, h.raw) {
		info, err := h.file.Stat()
		if err != nil {
			return note{}, err
		}
		h.note, h.raw, h.spent = parseNote(raw, info.ModTime()), append(h.buf[:0], raw...), false
	}
	h.held = held
	return h.said(), nil
}

func (h *heads) said() note {
	if h.spent {
		return note{}
	}
	return h.note
}

// write stores a note, in one write over the old one. The first, and one that
// follows a broken one, comes in the place of the file as a whole.
func (q *Queue) writeNote(held *lock.Record, n note) error {
	h := &q.heads
	h.held, h.raw = nil, nil
	data, err := n.bytes(&h.buf)
	if err != nil {
		return err
	}
	if h.file == nil || h.note.broken != nil {
		err = q.replaceNote(data)
	} else {
		_, err = q.disk.writeAt(h.file, data, 0)
	}
	if err != nil {
		h.forget()
		return &WriteError{Path: h.path, Before: true, Err: err}
	}
	step.At("queue: attempts noted")
	h.held, h.note, h.raw, h.spent = held, n, data, false
	return nil
}

// reserveNote takes the room of the first note, without which nothing that is owed
// could be handed over. What is wrong with an existing one is not asked here.
func (q *Queue) reserveNote(held *lock.Record) error {
	_, err := q.note(held)
	if err != nil && !errors.Is(err, ErrCorrupt) {
		return err
	}
	if err != nil || q.heads.file != nil {
		return nil
	}
	return q.writeNote(held, note{})
}

func (q *Queue) replaceNote(data []byte) error {
	h := &q.heads
	h.forget()
	f, err := q.disk.createNew(h.path+newSuffix, q.freeName)
	if err != nil {
		return err
	}
	_, err = q.disk.writeAt(f, data, 0)
	now, statErr := statusOf(f)
	if err = errors.Join(err, statErr); err == nil {
		step.At("queue: first note written")
		err = q.disk.rename(f.Name(), h.path)
	}
	if err != nil {
		return errors.Join(err, f.Close(), q.disk.remove(f.Name()))
	}
	h.file, h.status = f, now
	return nil
}

// readNote returns what pending.head says, without the record lock.
func (q *Queue) readNote() (note, error) {
	f, info, err := q.disk.open(q.heads.path, os.O_RDONLY)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return note{}, nil
	case errors.Is(err, errNotPlain), errors.Is(err, os.ErrPermission):
		return stuckNote(q.heads.path, err), nil
	case err != nil:
		return note{}, err
	}
	defer f.Close()
	buf := make([]byte, noteBytes+1)
	n, err := f.ReadAt(buf, 0)
	if err != nil && err != io.EOF {
		return note{}, err
	}
	return parseNote(buf[:n], info.ModTime()), nil
}

func stuckNote(path string, err error) note {
	n := note{broken: err, stuck: true, since: time.Unix(0, 0)}
	if info, statErr := os.Lstat(path); statErr == nil {
		n.since = info.ModTime()
	}
	return n
}
