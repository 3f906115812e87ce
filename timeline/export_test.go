package timeline

import (
	"time"

	"github.com/docket-go/docket/timeline/segment"
)

// Schema is what the segment engine is given.
var Schema segment.Schema = schema{}

// MaxListed is how many debts a header lists.
const MaxListed = maxListed

// EncodeEntry returns the line that Write stores for e, without its sequence.
func EncodeEntry(e Entry, now time.Time) ([]byte, error) {
	return e.append(nil, now), e.check(DefaultMaxTextBytes)
}

// Decoded is everything that this package reads out of one line.
type Decoded struct {
	Class segment.Class
	Event Event
	Sent  Sent
}

// DecodeLine decodes a stored line.
func DecodeLine(raw []byte) (Decoded, error) {
	l, err := parse(raw)
	if err != nil {
		return Decoded{Class: segment.Unreadable}, err
	}
	d := Decoded{Class: l.class()}
	if d.Class == segment.Public {
		d.Event = l.event(0, string(l.raw))
	}
	if l.kind == sentLine {
		d.Sent = l.decodeSent()
	}
	return d, nil
}

// DecodeIntact decodes the public fields of a line as if its checksum fitted. It
// returns false if the line does not have the shape for that.
func DecodeIntact(raw []byte) (e Event, ok bool) {
	if !e.fromShape(&segment.Line{Bytes: raw, Class: segment.Public, Intact: true}, nil) {
		return Event{}, false
	}
	return e, true
}

// TimeByShape reads a time of the layout that this package writes.
func TimeByShape(s string) (time.Time, bool) { return timeByShape(s) }

// WithoutRaw returns the event as if it had not been read from a line.
func (e Event) WithoutRaw() Event {
	e.raw = ""
	return e
}

// Raw returns what the event keeps of its line.
func (e Event) Raw() string { return e.raw }

// Together counts the calls of Append that are not done.
func (l *Log) Together() int {
	t := &l.together
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.led {
		return 0
	}
	return 1 + len(t.waiting)
}

// SetDebtsAtOnce lets a short log be read in many windows.
func (l *Log) SetDebtsAtOnce(n int) { l.debtsAtOnce = n }
