package timeline

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf8"

	"github.com/docket-go/docket/timeline/segment"
)

// fromShape makes e, which must be zero, the event of an intact line whose public
// fields stand as this package writes them, and keeps what own makes of the line: of
// one that has no other fields only those. What stands behind them is not looked at. It
// returns false, and leaves some fields set, for any other line.
func (e *Event) fromShape(at *segment.Line, own *copies) bool {
	line := at.Bytes
	kind, rest := kindByShape(line)
	if kind != statusLine && kind != sentLine {
		return false
	}
	if bare := withoutPrivate(at.Stem()); bare[len(bare)-1] != '}' {
		line = bare // there may be no other field; else the last one is mostly an object
	}
	e.raw = own.of(line)
	f := fields{line: line, raw: e.raw, at: rest, plain: bytes.IndexByte(line, '\\') < 0 && validText(line)}
	if kind == statusLine {
		e.Kind = KindStatus
		e.Status, e.Proposal, e.Note = f.take(`,"status":`), f.take(`,"proposal":`), f.take(`,"note":`)
	} else {
		e.Kind = KindSent
		e.MID, e.Text, e.From = f.take(`,"mid":`), f.take(`,"text":`), f.take(`,"from":`)
		if strings.HasPrefix(f.raw[f.at:], `,"replyVia":`) {
			e.ReplyVia = Channel(f.take(`,"replyVia":`))
		}
	}
	e.Seq, e.Time = at.Seq, parseTime(e.raw[len(shapeStart):len(shapeStart)+len(timeLayout)])
	return !f.failed && (f.at == len(line) || len(line) == len(at.Bytes))
}

const (
	receiptField = `,"dispatchReceipt":`
	docketField  = `,"docket":`
)

// withoutPrivate returns the stem of a line without the receipt and the mark of a debt
// that it ends with: they hold the text once or twice more, and an event is not to keep
// them. A quote within a string has a backslash before it, so that a field is not found
// there; in an object, there is something behind it that is no such field.
func withoutPrivate(stem []byte) []byte {
	bare := bytes.TrimSuffix(stem, []byte(docketField+`{}`))
	if bare[len(bare)-1] != '}' {
		return bare
	}
	i := bytes.Index(bare, []byte(receiptField))
	if i < 0 {
		i = bytes.Index(bare, []byte(docketField))
	}
	if i < 0 {
		return bare
	}
	for rest := bare[i:]; len(rest) > 0; {
		s := scanner{line: rest, at: len(docketField)}
		if bytes.HasPrefix(rest, []byte(receiptField)) {
			s.at = len(receiptField)
		} else if !bytes.HasPrefix(rest, []byte(docketField)) {
			return bare
		}
		if s.value(1); s.err != nil {
			return bare
		}
		rest = rest[s.at:]
	}
	return bare[:i]
}

// fields takes the fields of a line in a known order.
type fields struct {
	line   []byte
	raw    string // a copy of line, whose memory the fields share
	at     int
	plain  bool // line has no escapes, and is UTF-8
	failed bool
}

// take returns the field that stands next, a string or null, which counts as empty.
func (f *fields) take(name string) string {
	from := f.at + len(name)
	if f.failed || len(f.raw) <= from || f.raw[f.at:from] != name {
		f.failed = true
		return ""
	}
	if f.raw[from] != '"' {
		const null = "null"
		if f.failed = !strings.HasPrefix(f.raw[from:], null); !f.failed {
			f.at = from + len(null)
		}
		return ""
	}
	if !f.plain {
		return f.escaped(from)
	}
	body := f.raw[from+1:]
	end := strings.IndexByte(body, '"')
	if end < 0 {
		f.failed = true
		return ""
	}
	f.at = from + 1 + end + 1
	return body[:end]
}

// escaped is take for the string at from, which may have escapes.
func (f *fields) escaped(from int) string {
	to, plain := stringEnd(f.line, from)
	if f.failed = to == 0; f.failed {
		return ""
	}
	f.at = to
	return text(f.raw, value{from: from, to: to, plain: plain})
}

// validText is utf8.Valid, faster where everything is ASCII.
func validText(p []byte) bool {
	const tops = 0x8080808080808080
	if len(p) < 32 {
		return utf8.Valid(p)
	}
	or := uint64(0)
	for rest := p; ; rest = rest[32:] {
		if len(rest) < 32 {
			rest = p[len(p)-32:]
		}
		or |= binary.LittleEndian.Uint64(rest) | binary.LittleEndian.Uint64(rest[8:]) | binary.LittleEndian.Uint64(rest[16:]) | binary.LittleEndian.Uint64(rest[24:])
		if len(rest) == 32 {
			return or&tops == 0 || utf8.Valid(p)
		}
	}
}
