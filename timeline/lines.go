package timeline

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"iter"
	"math/bits"
	"unicode/utf8"

	"github.com/docket-go/docket/timeline/segment"
)

// Lines is [Log.All] for one who passes a log on and does not look into its events: it
// yields each as [Event.JSON] returns it, without a newline, and allocates nothing for one
// that this package wrote. A line is lent: it is the consumer's until the iteration goes
// on, who may change it and append to it, and copies what is to be kept. The order and the
// errors are those of All; beside a [*LineError] there is no line.
func (l *Log) Lines(ctx context.Context) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		r, err := l.segments.Reader(ctx, 0)
		if err != nil {
			yield(nil, l.wrap(err))
			return
		}
		defer r.Close()
		var made []byte
		for {
			at, err := l.lend(ctx, r)
			if errors.Is(err, io.EOF) {
				return
			}
			var form []byte
			if err == nil {
				form, made, err = l.publicForm(at, made)
			}
			if !yield(form, err) || ends(err) {
				return
			}
		}
	}
}

// publicForm returns a line that is not private as [Event.JSON] does: where nothing but
// its end has to go, in its own memory, else in that of made. The error is a [*LineError].
func (l *Log) publicForm(at *segment.Line, made []byte) (form, kept []byte, err error) {
	if form, ok := cutForm(at); ok {
		return form, made, nil
	}
	var e Event
	if bad := l.decode(at, nil, &e); bad != nil {
		return nil, made, bad
	}
	made = e.AppendJSON(made[:0])
	return made, made, nil
}

// cutForm makes the public form of an intact line that has no fields but those of this
// package, as this package writes them: what is in front of the private ones, and a
// brace. It returns false, and the line as it was, for any other one.
func cutForm(at *segment.Line) (form []byte, ok bool) {
	if at.Class != segment.Public || !at.Intact {
		return nil, false
	}
	kind, rest := kindByShape(at.Bytes)
	if kind == otherLine {
		return nil, false
	}
	bare := withoutPrivate(at.Stem())
	w := walk{at.Bytes, rest, len(bare)}
	if !w.public(kind) || w.at < len(bare) {
		return nil, false
	}
	form = at.Bytes[: len(bare)+1 : len(at.Bytes)]
	form[len(bare)] = '}'
	return form, true
}

// A walk goes over the fields of an intact line from at to end, as shape does, and looks
// at no value twice. Behind end there is the checksum, longer than any name of a field.
type walk struct {
	line    []byte
	at, end int
}

// public passes the public fields of an event. It returns false where they do not stand
// as this package writes them.
func (w *walk) public(kind lineKind) bool {
	if kind == statusLine {
		const status, proposal, note = `,"status":`, `,"proposal":`, `,"note":`
		return string(w.line[w.at:w.at+len(status)]) == status && w.pass(len(status)) &&
			string(w.line[w.at:w.at+len(proposal)]) == proposal && w.pass(len(proposal)) &&
			string(w.line[w.at:w.at+len(note)]) == note && w.pass(len(note))
	}
	const mid, text, from, via = `,"mid":`, `,"text":`, `,"from":`, `,"replyVia":`
	return kind == sentLine &&
		string(w.line[w.at:w.at+len(mid)]) == mid && w.pass(len(mid)) &&
		string(w.line[w.at:w.at+len(text)]) == text && w.pass(len(text)) &&
		string(w.line[w.at:w.at+len(from)]) == from && w.pass(len(from)) &&
		(string(w.line[w.at:w.at+len(via)]) != via || w.pass(len(via)))
}

// pass goes over a value, which is a string in UTF-8 or null, and the name before it.
func (w *walk) pass(name int) bool {
	const null = "null"
	from := w.at + name
	if from >= w.end {
		return false
	}
	if w.line[from] != '"' {
		w.at = from + len(null)
		return string(w.line[from:from+len(null)]) == null && w.at <= w.end
	}
	body := w.line[from+1 : w.end]
	n := tame(body)
	if n < len(body) && body[n] == '"' {
		w.at = from + 1 + n + 1
		return true
	}
	w.at, _ = stringEnd(w.line[:w.end], from)
	return w.at > 0 && utf8.Valid(w.line[from:w.at])
}

// tame returns how many bytes p starts with that are ASCII and neither quote nor
// backslash.
func tame(p []byte) (n int) {
	const ones, tops, quotes, slashes = 0x0101010101010101, 0x8080808080808080, 0x0101010101010101 * '"', 0x0101010101010101 * '\\'
	for ; len(p)-n >= 8; n += 8 {
		word := binary.LittleEndian.Uint64(p[n:])
		// The lowest marked byte is exact: a borrow can only mark bytes above one.
		if mark := (word | ((word ^ quotes) - ones) | ((word ^ slashes) - ones)) & tops; mark != 0 {
			return n + bits.TrailingZeros64(mark)/8
		}
	}
	for n < len(p) && p[n] < 0x80 && p[n] != '"' && p[n] != '\\' {
		n++
	}
	return n
}
