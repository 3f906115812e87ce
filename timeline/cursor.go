package timeline

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/docket-go/docket/timeline/segment"
)

// A Cursor is a reader's place in one log: it names the next public event. Its
// text is opaque, is safe in a URL, and stays valid across restart, rotation and
// sealing. Cursors are values and can be compared with ==.
//
// The zero Cursor names no place; every read refuses it with
// [ErrMalformedCursor]. Ask [Log.Start] or [Log.End] for one to begin with.
type Cursor struct {
	session string
	epoch   segment.Epoch
	seq     uint64
	valid   bool
}

const (
	cursorVersion = 1
	cursorFixed   = 1 + len(segment.Epoch{}) + 8 // version, epoch, sequence
	cursorSum     = 4
	maxCursorText = 4096
)

var cursorTable = crc32.MakeTable(crc32.Castagnoli)

// NewCursor returns the cursor before the public line with the sequence seq in the
// log of session that has the epoch e. It is for the packages below this one whose
// logs have cursors of the same kind; for a timeline ask a [Log].
func NewCursor(session string, e segment.Epoch, seq uint64) Cursor {
	return Cursor{session: session, epoch: e, seq: seq, valid: true}
}

// ParseCursor is the inverse of [Cursor.String]. The error is
// [ErrMalformedCursor] for text that no cursor gives; whether the cursor fits a
// log is found out by the read that takes it.
func ParseCursor(text string) (Cursor, error) {
	if len(text) > maxCursorText {
		return Cursor{}, fmt.Errorf("%w: %d bytes long", ErrMalformedCursor, len(text))
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return Cursor{}, fmt.Errorf("%w: %q: %w", ErrMalformedCursor, text, err)
	}
	if len(raw) < cursorFixed+cursorSum {
		return Cursor{}, fmt.Errorf("%w: %q is cut short", ErrMalformedCursor, text)
	}
	body, sum := raw[:len(raw)-cursorSum], raw[len(raw)-cursorSum:]
	if crc32.Checksum(body, cursorTable) != binary.BigEndian.Uint32(sum) {
		return Cursor{}, fmt.Errorf("%w: %q has a wrong check sum", ErrMalformedCursor, text)
	}
	if body[0] != cursorVersion {
		return Cursor{}, fmt.Errorf("%w: %q has version %d: a newer program wrote it", ErrMalformedCursor, text, body[0])
	}
	c := Cursor{session: string(body[cursorFixed:]), valid: true}
	copy(c.epoch[:], body[1:])
	c.seq = binary.BigEndian.Uint64(body[cursorFixed-8:])
	if c.String() != text { // line breaks inside, which the decoder skips
		return Cursor{}, fmt.Errorf("%w: %q", ErrMalformedCursor, text)
	}
	return c, nil
}

// String returns the text of the cursor; it is empty for the zero Cursor.
func (c Cursor) String() string {
	text, _ := c.AppendText(nil)
	return string(text)
}

// AppendText appends what [Cursor.String] returns. The error is always nil.
func (c Cursor) AppendText(dst []byte) ([]byte, error) {
	if !c.valid {
		return dst, nil
	}
	size := cursorFixed + len(c.session) + cursorSum
	text := base64.RawURLEncoding.EncodedLen(size)
	dst = slices.Grow(dst, text+size)
	raw := append(dst[len(dst)+text:len(dst)+text], cursorVersion) // behind where the text will be
	raw = append(raw, c.epoch[:]...)
	raw = binary.BigEndian.AppendUint64(raw, c.seq)
	raw = append(raw, c.session...)
	raw = binary.BigEndian.AppendUint32(raw, crc32.Checksum(raw, cursorTable))
	return base64.RawURLEncoding.AppendEncode(dst, raw), nil
}

// IsZero reports whether c is the zero Cursor, which names no place.
func (c Cursor) IsZero() bool { return !c.valid }

// Session returns the name of the session whose log the cursor belongs to.
func (c Cursor) Session() string { return c.session }

// Seq returns the sequence of the event that the cursor names.
func (c Cursor) Seq() uint64 { return c.seq }

// Epoch returns the epoch of the log that the cursor belongs to, which is zero if the
// log was empty.
func (c Cursor) Epoch() segment.Epoch { return c.epoch }

// MarshalText returns what [Cursor.String] does.
func (c Cursor) MarshalText() ([]byte, error) { return c.AppendText(nil) }

// UnmarshalText is [ParseCursor]; in particular it refuses an empty text.
func (c *Cursor) UnmarshalText(text []byte) error {
	parsed, err := ParseCursor(string(text))
	if err != nil {
		return err
	}
	*c = parsed
	return nil
}

// Fits returns nil if c is a place in the log of session with epoch e and end
// public events. The start of a log that was empty then, and so had no epoch, is
// a place in whatever log of that session there is now. Otherwise the error is
// [ErrMalformedCursor], [ErrForeignCursor] or [ErrFutureCursor].
func (c Cursor) Fits(session string, e segment.Epoch, end uint64) error {
	switch {
	case !c.valid:
		return fmt.Errorf("%w: the zero cursor names no place", ErrMalformedCursor)
	case c.session != session:
		return fmt.Errorf("%w: it is of session %q, not of %q", ErrForeignCursor, c.session, session)
	case c.epoch != e && (c.epoch != (segment.Epoch{}) || c.seq != 0):
		return fmt.Errorf("%w: session %s has a new log since: start again from its beginning", ErrForeignCursor, session)
	case c.seq > end:
		return fmt.Errorf("%w: the log of session %s ends before number %d, the cursor names number %d", ErrFutureCursor, session, end, c.seq)
	}
	return nil
}
