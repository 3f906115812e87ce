package queue

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"
	"unicode/utf8"
)

// plain is the length of the part of s, from its start, that stands for itself in a
// JSON string.
func plain[T ~string | ~[]byte](s T) int {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return i
		}
	}
	return len(s)
}

// decodeOwn reads an entry that encode wrote and that has no members of others, which
// is several times faster than to read any object. It answers false for everything
// else.
func decodeOwn(raw []byte) (e Entry, ok bool) {
	r := ownReader{rest: raw}
	e.MID = r.string(`{"mid":`)
	e.Text = r.string(`,"text":`)
	if !r.skip(`,"from":null`) {
		e.From = r.string(`,"from":`)
	}
	if r.skip(`,"fromLife":`) {
		e.FromLife = r.number()
		r.bad = r.bad || e.FromLife == 0
	}
	if r.skip(`,"dispatch":`) {
		e.Dispatch = &Dispatch{Operation: r.string(`{"operation":`), RequestDigest: r.string(`,"requestDigest":`)}
		r.need(`}`)
	}
	if r.skip(`,"attributes":`) {
		e.Attributes = r.attributes()
	}
	if r.skip(`,"seq":`) {
		e.Seq, e.HasSeq = r.number(), true
	}
	if r.skip(`,"enqueuedAt":`) {
		written := r.string(``)
		at, err := time.Parse(stamp, written)
		// Parse takes more than Format writes, such as a sign in the milliseconds.
		r.bad = r.bad || err != nil || at.Format(stamp) != written
		e.EnqueuedAt = at
	}
	if r.skip(`,"doubt":`) {
		e.Doubt = r.string(``)
		r.bad = r.bad || e.Doubt == ""
	}
	known := raw[:len(raw)-len(r.rest)]
	if r.skip(sumName) {
		sum := r.number()
		r.bad = r.bad || sum != uint64(checksum(known))
	}
	r.need(`}`)
	return e, !r.bad && len(r.rest) == 0 && e.MID != ""
}

// An ownReader reads a line from its start to its end. Once something is not as it
// should be, the rest makes no difference.
type ownReader struct {
	rest []byte
	bad  bool
}

func (r *ownReader) skip(text string) bool {
	if len(r.rest) < len(text) || string(r.rest[:len(text)]) != text {
		return false
	}
	r.rest = r.rest[len(text):]
	return true
}

func (r *ownReader) need(text string) { r.bad = !r.skip(text) || r.bad }

// string reads a string behind a name. One with escapes or other letters than those
// of ASCII is left to the JSON decoder.
func (r *ownReader) string(name string) (s string) {
	r.need(name)
	r.need(`"`)
	if r.bad {
		return ""
	}
	if n := plain(r.rest); n < len(r.rest) && r.rest[n] == '"' {
		s, r.rest = string(r.rest[:n]), r.rest[n+1:]
		return s
	}
	end := closingQuote(r.rest)
	if end < 0 {
		r.bad = true
		return ""
	}
	quoted := append(append([]byte{'"'}, r.rest[:end]...), '"')
	r.bad = !utf8.Valid(quoted) || json.Unmarshal(quoted, &s) != nil
	r.rest = r.rest[end+1:]
	return s
}

// closingQuote is where a string ends, or -1.
func closingQuote(text []byte) int {
	for at := 0; ; {
		i := bytes.IndexByte(text[at:], '"')
		if i < 0 {
			return -1
		}
		at += i
		escapes := 0
		for escapes < at && text[at-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return at
		}
		at++
	}
}

func (r *ownReader) attributes() map[string]string {
	a := map[string]string{}
	for sep := `{`; !r.bad; sep = `,` {
		name := r.string(sep)
		if _, twice := a[name]; twice {
			r.bad = true
		}
		a[name] = r.string(`:`)
		if r.skip(`}`) {
			break
		}
	}
	return a
}

func (r *ownReader) number() uint64 {
	n := 0
	for n < len(r.rest) && r.rest[n] >= '0' && r.rest[n] <= '9' {
		n++
	}
	v, err := strconv.ParseUint(string(r.rest[:n]), 10, 64)
	r.bad = r.bad || err != nil || n > 1 && r.rest[0] == '0'
	r.rest = r.rest[n:]
	return v
}
