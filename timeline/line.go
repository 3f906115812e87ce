package timeline

import (
	"errors"
	"fmt"
	"time"

	"github.com/docket-go/docket/timeline/segment"
)

// A lineKind is what a stored line is to this package.
type lineKind int

const (
	otherLine lineKind = iota // private and without meaning here
	statusLine
	sentLine
	settledLine
	revokedLine
)

const (
	kindSettled = "dispatch-settled"
	kindRevoked = "dispatch-revoked"
)

var errNoKind = errors.New("no kind")

// A line is one stored line, taken apart but not decoded.
type line struct {
	raw  []byte
	kind lineKind

	ts, status, proposal, note       value
	mid, text, from, replyVia        value
	operation, requestDigest, reason value
	receipt, docket, facts           value
	kindAt                           value
}

// parse takes a stored line apart. An error says why it cannot be read: it is not
// one JSON object with a kind, or a field that this package knows is of another
// type. A field that is absent reads as null.
func parse(raw []byte) (line, error) {
	l := line{raw: raw}
	if err := l.fill(); err != nil {
		return line{}, err
	}
	if l.kindAt.absent() {
		return line{}, errNoKind
	}
	if err := isText(raw, "kind", l.kindAt); err != nil {
		return line{}, err
	}
	l.kind = kindOf(raw, l.kindAt)
	return l, l.checkTypes()
}

// fill notes where the fields stand. As in JavaScript, the last one of a name
// counts.
func (l *line) fill() error {
	s := scan(l.raw)
	for {
		name, val, ok := s.next()
		if !ok {
			return s.err
		}
		if at := l.field(nameOf(l.raw, name)); at != nil {
			*at = val
		}
	}
}

// nameOf returns a member's name, whatever escapes it is written with.
func nameOf(object []byte, name value) []byte {
	if name.plain {
		return object[name.from+1 : name.to-1]
	}
	return []byte(text(string(object), name))
}

func (l *line) field(name []byte) *value {
	switch string(name) {
	case "ts":
		return &l.ts
	case "kind":
		return &l.kindAt
	case "status":
		return &l.status
	case "proposal":
		return &l.proposal
	case "note":
		return &l.note
	case "mid":
		return &l.mid
	case "text":
		return &l.text
	case "from":
		return &l.from
	case "replyVia":
		return &l.replyVia
	case "operation":
		return &l.operation
	case "requestDigest":
		return &l.requestDigest
	case "reason":
		return &l.reason
	case "dispatchReceipt":
		return &l.receipt
	case "docket":
		return &l.docket
	case "facts":
		return &l.facts
	}
	return nil
}

func kindOf(raw []byte, v value) lineKind {
	switch string(nameOf(raw, v)) {
	case string(KindStatus):
		return statusLine
	case string(KindSent):
		return sentLine
	case kindSettled:
		return settledLine
	case kindRevoked:
		return revokedLine
	}
	return otherLine
}

// checkTypes looks at the fields that belong to the kind of the line.
func (l *line) checkTypes() error {
	type named struct {
		name string
		at   value
	}
	var want [6]named
	switch l.kind {
	case statusLine:
		want = [6]named{{"ts", l.ts}, {"status", l.status}, {"proposal", l.proposal}, {"note", l.note}}
	case sentLine:
		want = [6]named{{"ts", l.ts}, {"mid", l.mid}, {"text", l.text}, {"from", l.from}, {"replyVia", l.replyVia}}
	case settledLine, revokedLine:
		want = [6]named{{"ts", l.ts}, {"mid", l.mid}, {"operation", l.operation}, {"requestDigest", l.requestDigest}, {"reason", l.reason}}
	}
	for _, f := range want {
		if f.at.null(l.raw) {
			continue
		}
		if err := isText(l.raw, f.name, f.at); err != nil {
			return err
		}
	}
	return nil
}

func isText(raw []byte, name string, v value) error {
	if raw[v.from] == '"' {
		return nil
	}
	return fmt.Errorf("%s is not a string", name)
}

func (l *line) class() segment.Class {
	if l.kind == statusLine || l.kind == sentLine {
		return segment.Public
	}
	return segment.Private
}

// event decodes a public line. The fields share the memory of raw, a copy of it.
func (l *line) event(seq uint64, raw string) Event {
	e := Event{Seq: seq, Time: parseTime(orEmpty(raw, l.ts)), raw: raw}
	if l.kind == statusLine {
		e.Kind = KindStatus
		e.Status, e.Proposal, e.Note = orEmpty(raw, l.status), orEmpty(raw, l.proposal), orEmpty(raw, l.note)
		return e
	}
	e.Kind = KindSent
	e.MID, e.Text, e.From = orEmpty(raw, l.mid), orEmpty(raw, l.text), orEmpty(raw, l.from)
	e.ReplyVia = Channel(orEmpty(raw, l.replyVia))
	return e
}

func (l *line) time() time.Time { return parseTime(l.string(l.ts)) }

// string decodes the string at v, which is empty where it is null or absent.
func (l *line) string(v value) string {
	if v.null(l.raw) {
		return ""
	}
	return text(string(v.bytes(l.raw)), value{to: v.to - v.from, plain: v.plain})
}

// orEmpty is string in a copy of the line, whose memory the result shares.
func orEmpty(raw string, v value) string {
	if v.absent() || raw[v.from] == 'n' {
		return ""
	}
	return text(raw, v)
}
