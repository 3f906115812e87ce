package timeline

import (
	"bytes"

	"github.com/docket-go/docket/timeline/segment"
)

// Lines of this package start with the same fields in the same order, see
// appendStart and the methods append. In a line whose checksum fits, that order is
// as good as a parse of the whole line: what stands behind the public fields need
// not be looked at to show an event.

const (
	shapeStart = `{"ts":"`
	shapeKind  = `","kind":"`
	kindOffset = len(shapeStart) + len(timeLayout) + len(shapeKind)
)

// kindByShape tells what a line is by the bytes where its kind stands, and where the
// next field starts. It is otherLine where that does not tell.
func kindByShape(raw []byte) (kind lineKind, rest int) {
	if len(raw) < kindOffset+len(kindSettled+`",`) || string(raw[:len(shapeStart)]) != shapeStart || string(raw[kindOffset-len(shapeKind):kindOffset]) != shapeKind {
		return otherLine, 0
	}
	switch behind := (*[len(kindSettled + `",`)]byte)(raw[kindOffset:]); {
	case string(behind[:len(`sent",`)]) == `sent",`:
		return sentLine, kindOffset + len(`sent"`)
	case string(behind[:len(`status",`)]) == `status",`:
		return statusLine, kindOffset + len(`status"`)
	case string(behind[:]) == kindSettled+`",`:
		return settledLine, kindOffset + len(kindSettled+`"`)
	case string(behind[:]) == kindRevoked+`",`:
		return revokedLine, kindOffset + len(kindRevoked+`"`)
	}
	return otherLine, 0
}

// parseEvent is parse for a reader who wants the public fields of events only. In an
// intact line it passes over everything behind them.
func (l *line) parseEvent(at *segment.Line) (err error) {
	*l = line{}
	if at.Intact {
		if _, ok := l.parseShape(at.Bytes); ok {
			return nil
		}
	}
	*l, err = parse(at.Bytes)
	return err
}

// parseBare is parse for an intact event that has no private fields but the bare mark
// of a debt. It returns false for any other line.
func (l *line) parseBare(at *segment.Line) bool {
	if !at.Intact {
		return false
	}
	rest, ok := l.parseShape(at.Bytes)
	const mark = `,"docket":{}`
	if ok && bytes.HasPrefix(at.Bytes[rest:], []byte(mark)) {
		l.docket = value{from: rest + len(mark) - len(`{}`), to: rest + len(mark)}
		rest += len(mark)
	}
	return ok && bytes.HasPrefix(at.Bytes[rest:], []byte(`,"crc":`))
}

// parseShape takes the public fields of an event into l, which must be zero, and
// returns where the next field starts. It returns false where they do not stand as
// this package writes them.
func (l *line) parseShape(raw []byte) (rest int, ok bool) {
	kind, start := kindByShape(raw)
	l.raw, l.kind = raw, kind
	l.ts = value{from: len(shapeStart) - 1, to: len(shapeStart) + len(timeLayout) + 1, plain: true}
	s := shape{raw, start}
	switch kind {
	case statusLine:
		ok = s.field(`,"status":`, &l.status) && s.field(`,"proposal":`, &l.proposal) && s.field(`,"note":`, &l.note)
	case sentLine:
		ok = s.field(`,"mid":`, &l.mid) && s.field(`,"text":`, &l.text) && s.field(`,"from":`, &l.from) &&
			(!bytes.HasPrefix(raw[s.at:], []byte(`,"replyVia":`)) || s.field(`,"replyVia":`, &l.replyVia))
	}
	return s.at, ok
}

// A shape walks the fields of a line in a known order.
type shape struct {
	raw []byte
	at  int
}

// field passes a field whose value is a string or null.
func (s *shape) field(name string, v *value) bool {
	rest, found := bytes.CutPrefix(s.raw[s.at:], []byte(name))
	from := s.at + len(name)
	switch {
	case !found:
	case bytes.HasPrefix(rest, []byte("null")):
		*v = value{from: from, to: from + len("null")}
	case bytes.HasPrefix(rest, []byte{'"'}):
		to, plain := stringEnd(s.raw, from)
		*v = value{from: from, to: to, plain: plain}
	}
	s.at = v.to
	return !v.absent()
}

// stringEnd returns the place behind the string at from, zero if it has no end, and
// whether it has no escapes.
func stringEnd(raw []byte, from int) (to int, plain bool) {
	body := raw[from+1:]
	end := bytes.IndexByte(body, '"')
	if end < 0 {
		return 0, false
	}
	if bytes.IndexByte(body[:end], '\\') < 0 {
		return from + 1 + end + 1, true
	}
	s := scanner{line: raw, at: from}
	plain = s.string()
	if s.err != nil {
		return 0, false
	}
	return s.at, plain
}
