package fleet

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

const (
	cursorVersion = 0xF1 // no cursor of a single timeline begins so
	cursorSum     = 4

	// MaxCursorText bounds the text of a cursor, in bytes. It has room for the cursor
	// of 150,000 sessions with the longest ids.
	MaxCursorText = 32 << 20
)

var cursorTable = crc32.MakeTable(crc32.Castagnoli)

var errCutShort = errors.New("it is cut short")

// String returns the text of the cursor; it is empty for the zero Cursor.
func (c Cursor) String() string {
	if !c.valid {
		return ""
	}
	places := c.places()
	raw := binary.AppendUvarint([]byte{cursorVersion}, uint64(len(places)))
	before := ""
	for _, p := range places {
		same := commonPrefix(before, p.id)
		raw = append(raw, byte(same), byte(len(p.id)-same))
		raw = append(raw, p.id[same:]...)
		if p.log == (tag{}) {
			raw = binary.AppendUvarint(raw, 2*p.seq)
		} else {
			raw = binary.AppendUvarint(raw, 2*p.seq+1)
			raw = append(raw, p.log[:]...)
		}
		before = p.id
	}
	raw = binary.BigEndian.AppendUint32(raw, crc32.Checksum(raw, cursorTable))
	return base64.RawURLEncoding.EncodeToString(raw)
}

func commonPrefix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// ParseCursor is the inverse of [Cursor.String]. The error is
// [timeline.ErrMalformedCursor] for text that no cursor gives; whether the cursor fits
// a store is found out by [Follow].
func ParseCursor(text string) (Cursor, error) {
	c, err := parseCursor(text)
	if err != nil {
		const shown = 40
		if len(text) > shown {
			text = text[:shown] + "…"
		}
		return Cursor{}, fmt.Errorf("fleet: %w: %q: %w", timeline.ErrMalformedCursor, text, err)
	}
	return c, nil
}

func parseCursor(text string) (Cursor, error) {
	if len(text) > MaxCursorText {
		return Cursor{}, fmt.Errorf("it is %d bytes long", len(text))
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return Cursor{}, err
	}
	if len(raw) < 2+cursorSum {
		return Cursor{}, errCutShort
	}
	body, sum := raw[:len(raw)-cursorSum], raw[len(raw)-cursorSum:]
	if crc32.Checksum(body, cursorTable) != binary.BigEndian.Uint32(sum) {
		return Cursor{}, errors.New("it has a wrong check sum")
	}
	if body[0] != cursorVersion {
		return Cursor{}, fmt.Errorf("it has version %d: a newer program wrote it", body[0])
	}
	d := decoder{rest: body[1:]}
	places := d.places()
	if d.err != nil {
		return Cursor{}, d.err
	}
	c := cursorOf(places)
	if c.String() != text { // another way to write the same
		return Cursor{}, errors.New("no cursor has this text")
	}
	return c, nil
}

// A decoder takes a cursor's bytes apart.
type decoder struct {
	rest []byte
	err  error
}

func (d *decoder) places() (all []place) {
	count := d.number()
	before := ""
	for ; d.err == nil && count > 0; count-- {
		same, rest := d.bytes(1), d.bytes(1)
		if d.err != nil || int(same[0]) > len(before) {
			break
		}
		p := place{id: before[:same[0]] + string(d.bytes(int(rest[0])))}
		twice := d.number()
		p.seq = twice / 2
		if twice%2 == 1 {
			copy(p.log[:], d.bytes(len(p.log)))
		}
		if d.err == nil && (p.id <= before || session.ValidID(p.id) != nil) {
			d.err = fmt.Errorf("it names %q", p.id)
		}
		all, before = append(all, p), p.id
	}
	if d.err == nil && (count > 0 || len(d.rest) > 0) {
		d.err = errCutShort
	}
	return all
}

func (d *decoder) number() uint64 {
	n, size := binary.Uvarint(d.rest)
	if size <= 0 {
		d.err = errCutShort
		return 0
	}
	d.rest = d.rest[size:]
	return n
}

func (d *decoder) bytes(n int) []byte {
	if n > len(d.rest) {
		d.err = errCutShort
		return nil
	}
	taken := d.rest[:n]
	d.rest = d.rest[n:]
	return taken
}

// MarshalText returns what [Cursor.String] does.
func (c Cursor) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText is [ParseCursor]; in particular it refuses an empty text.
func (c *Cursor) UnmarshalText(text []byte) error {
	parsed, err := ParseCursor(string(text))
	if err != nil {
		return err
	}
	*c = parsed
	return nil
}
