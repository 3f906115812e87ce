package timeline

import (
	"bytes"
	"time"

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
	if len(raw) < kindOffset || string(raw[:len(shapeStart)]) != shapeStart || string(raw[kindOffset-len(shapeKind):kindOffset]) != shapeKind {
		return otherLine, 0
	}
	switch behind := raw[kindOffset:]; {
	case bytes.HasPrefix(behind, []byte(`sent",`)):
		return sentLine, kindOffset + len(`sent"`)
	case bytes.HasPrefix(behind, []byte(`status",`)):
		return statusLine, kindOffset + len(`status"`)
	case bytes.HasPrefix(behind, []byte(kindSettled+`",`)):
		return settledLine, kindOffset + len(kindSettled+`"`)
	case bytes.HasPrefix(behind, []byte(kindRevoked+`",`)):
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

// parseTime returns the zero time for text that is none: an event without a time is
// still an event.
func parseTime(text string) time.Time {
	if t, ok := timeByShape(text); ok {
		return t
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// timeByShape reads a time of the layout that this package writes, and returns
// false for any other text.
func timeByShape(s string) (t time.Time, ok bool) {
	if len(s) != len(timeLayout) || s[4] != '-' || s[7] != '-' || s[10] != 'T' || s[13] != ':' || s[16] != ':' || s[19] != '.' || s[23] != 'Z' {
		return time.Time{}, false
	}
	century, ok1 := twoDigits(s[0:])
	year, ok2 := twoDigits(s[2:])
	month, ok3 := twoDigits(s[5:])
	day, ok4 := twoDigits(s[8:])
	hour, ok5 := twoDigits(s[11:])
	minute, ok6 := twoDigits(s[14:])
	second, ok7 := twoDigits(s[17:])
	milli, ok8 := twoDigits(s[20:])
	last := int(s[22]) - '0'
	year += 100 * century
	if !(ok1 && ok2 && ok3 && ok4 && ok5 && ok6 && ok7 && ok8) || last < 0 || last > 9 ||
		month < 1 || month > 12 || day < 1 || day > daysIn(year, month) || hour > 23 || minute > 59 || second > 59 {
		return time.Time{}, false
	}
	seconds := int64(unixDay(year, month, day)*86400 + hour*3600 + minute*60 + second)
	return time.Unix(seconds, int64(10*milli+last)*int64(time.Millisecond)).UTC(), true
}

func twoDigits(s string) (n int, ok bool) {
	tens, ones := s[0]-'0', s[1]-'0'
	return int(tens)*10 + int(ones), tens <= 9 && ones <= 9
}

func daysIn(year, month int) int {
	if month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0) {
		return 29
	}
	return [...]int{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}[month-1]
}

// unixDay counts the days from 1970-01-01 to a day of the Gregorian calendar. The
// year is taken to start in March, so that a leap day is its last.
func unixDay(year, month, day int) int {
	if month < 3 {
		year, month = year-1, month+12
	}
	year += 400 // keep what is divided positive
	return 365*year + year/4 - year/100 + year/400 + (153*(month-3)+2)/5 + day - 1 - 719468 - 146097
}
