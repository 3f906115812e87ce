package queue

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"
)

// stamp is how times are written: RFC 3339, UTC, milliseconds.
const stamp = "2006-01-02T15:04:05.000Z"

// sumName stands before the checksum.
const sumName = `,"crc":`

// encode returns the line of an entry, without its newline.
func encode(e Entry) ([]byte, error) {
	if err := e.validate(); err != nil {
		return nil, err
	}
	w := lineWriter{line: make([]byte, 0, 256+len(e.Text)+len(e.Text)/8)}
	w.known(e)
	w.raw(sumName, strconv.AppendUint(nil, uint64(checksum(w.line)), 10))
	for _, m := range e.extra {
		w.string(`,`, m.name)
		w.raw(`:`, m.value)
	}
	w.raw(`}`, nil)
	if w.err != nil {
		return nil, fmt.Errorf("%w: message %s: %w", ErrInvalid, e.MID, w.err)
	}
	return w.line, nil
}

// known writes the members that this package knows, without the closing brace.
func (w *lineWriter) known(e Entry) {
	w.string(`{"mid":`, e.MID)
	w.string(`,"text":`, e.Text)
	if e.From == "" {
		w.raw(`,"from":`, []byte("null"))
	} else {
		w.string(`,"from":`, e.From)
	}
	if e.FromLife != 0 {
		w.raw(`,"fromLife":`, strconv.AppendUint(nil, e.FromLife, 10))
	}
	if d := e.Dispatch; d != nil {
		w.string(`,"dispatch":{"operation":`, d.Operation)
		w.string(`,"requestDigest":`, d.RequestDigest)
		w.raw(`}`, nil)
	}
	if len(e.Attributes) > 0 {
		w.value(`,"attributes":`, e.Attributes)
	}
	if e.HasSeq {
		w.raw(`,"seq":`, strconv.AppendUint(nil, e.Seq, 10))
	}
	if at := storedTime(e.EnqueuedAt); !at.IsZero() {
		w.string(`,"enqueuedAt":`, at.Format(stamp))
	}
	if e.Doubt != "" {
		w.string(`,"doubt":`, e.Doubt)
	}
}

// storedTime is what a line says of a time; zero stands for nothing.
func storedTime(at time.Time) time.Time {
	if at = at.UTC().Truncate(time.Millisecond); at.Year() < 0 || at.Year() > 9999 {
		return time.Time{}
	}
	return at
}

// stored is the entry as decode reads it from the line that encode writes.
func (e Entry) stored() Entry {
	e.EnqueuedAt = storedTime(e.EnqueuedAt)
	e.Attempts, e.LastAttempt, e.LastError, e.Claimed = 0, time.Time{}, "", time.Time{}
	if e.Attributes = maps.Clone(e.Attributes); len(e.Attributes) == 0 {
		e.Attributes = nil
	}
	if !e.HasSeq {
		e.Seq = 0
	}
	if e.Dispatch != nil {
		d := *e.Dispatch
		e.Dispatch = &d
	}
	return e
}

// checksum is what tells an entry that was changed on the disk from the one that
// was written: CRC-32C, over all that encode writes before it.
func checksum(known []byte) uint32 { return crc32.Checksum(known, castagnoli) }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var someSpaces = sync.OnceValue(func() []byte { return bytes.Repeat([]byte(" "), spareBytes) })

// spaces returns n of them, which are not to be written to.
func spaces(n int) []byte {
	if n > spareBytes {
		return bytes.Repeat([]byte(" "), n)
	}
	return someSpaces()[:n]
}

// A lineWriter puts a line together.
type lineWriter struct {
	line []byte
	err  error
}

func (w *lineWriter) raw(name string, value []byte) {
	w.line = append(append(w.line, name...), value...)
}

func (w *lineWriter) value(name string, v any) {
	text, err := marshal(v)
	w.err = errors.Join(w.err, err)
	w.raw(name, text)
}

func (w *lineWriter) string(name, s string) {
	if plain(s) != len(s) {
		w.value(name, s)
		return
	}
	w.line = append(append(append(append(w.line, name...), '"'), s...), '"')
}

// marshal is json.Marshal that leaves <, > and & as they are.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// validate makes sure that the encoder changes nothing in silence.
func (e Entry) validate() error {
	if e.MID == "" {
		return fmt.Errorf("%w: it has no id", ErrInvalid)
	}
	texts := []string{e.MID, e.Text, e.From, e.Doubt}
	if e.Dispatch != nil {
		texts = append(texts, e.Dispatch.Operation, e.Dispatch.RequestDigest)
	}
	for name, value := range e.Attributes {
		texts = append(texts, name, value)
	}
	for _, s := range texts {
		if !utf8.ValidString(s) {
			return fmt.Errorf("%w: message %q: it holds bytes that are not UTF-8", ErrInvalid, e.MID)
		}
	}
	return nil
}

var (
	errNotEntry = errors.New("not a message")
	errUTF8     = errors.New("bytes that are not UTF-8")
	errChanged  = errors.New("a message that is not what was written")
)

// decode reads one JSON object as an entry. Members that it does not know, or
// whose value is not of the kind that this package writes, are kept as they are;
// without an id, a text and a readable dispatch nothing can be handed over.
func decode(raw []byte) (Entry, error) {
	if e, ok := decodeOwn(raw); ok {
		return e, nil
	}
	return decodeAny(raw)
}

func decodeAny(raw []byte) (Entry, error) {
	if !utf8.Valid(raw) {
		return Entry{}, errUTF8
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return Entry{}, wrapEntry("no object", err)
	}
	d := decoding{dec: dec}
	for dec.More() {
		if err := d.member(); err != nil {
			return Entry{}, err
		}
	}
	if _, err := dec.Token(); err != nil {
		return Entry{}, wrapEntry("object without end", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return Entry{}, wrapEntry("more behind its end", err)
	}
	if d.entry.MID == "" || !d.hasText {
		return Entry{}, wrapEntry("no id or no text", nil)
	}
	if err := d.verify(); err != nil {
		return Entry{}, err
	}
	return d.entry, nil
}

// A decoding is an entry that is being read.
type decoding struct {
	dec     *json.Decoder
	entry   Entry
	hasText bool
	sum     json.RawMessage
}

// verify holds the entry against its checksum. What another program made of the
// layout, and the members that it added, are not part of that.
func (d *decoding) verify() error {
	if d.sum == nil {
		return nil
	}
	var w lineWriter
	w.known(d.entry)
	var sum uint32
	if err := json.Unmarshal(d.sum, &sum); err != nil || sum != checksum(w.line) {
		return fmt.Errorf("%w: message %.80q", errChanged, d.entry.MID)
	}
	return nil
}

// member reads the next member of the object. Of two with one name the later
// counts, as everywhere in JSON.
func (d *decoding) member() error {
	t, err := d.dec.Token()
	name, isName := t.(string)
	if err != nil || !isName {
		return wrapEntry("member without name", err)
	}
	e := &d.entry
	switch name {
	case "mid":
		err = d.dec.Decode(&e.MID)
	case "text":
		var text *string
		err = d.dec.Decode(&text)
		if d.hasText = text != nil; d.hasText {
			e.Text = *text
		}
	case "from":
		e.From = ""
		err = d.dec.Decode(&e.From)
	case "dispatch":
		e.Dispatch = nil
		err = d.dec.Decode(&e.Dispatch)
	default:
		err = d.other(name)
	}
	if err != nil {
		return wrapEntry(name, err)
	}
	return nil
}

// other reads a member without which an entry is still complete.
func (d *decoding) other(name string) error {
	var value json.RawMessage
	if err := d.dec.Decode(&value); err != nil {
		return err
	}
	e := &d.entry
	var err error
	switch name {
	case "attributes":
		var a map[string]string
		if err = json.Unmarshal(value, &a); err == nil {
			e.Attributes = a
		}
	case "fromLife":
		var n *uint64
		if err = json.Unmarshal(value, &n); err == nil && n != nil {
			e.FromLife = *n
		}
	case "seq":
		var n *uint64
		if err = json.Unmarshal(value, &n); err == nil && n != nil {
			e.Seq, e.HasSeq = *n, true
		}
	case "enqueuedAt":
		var at time.Time
		if err = json.Unmarshal(value, &at); err == nil {
			e.EnqueuedAt = at
		}
	case "doubt":
		var why *string
		if err = json.Unmarshal(value, &why); err == nil && why != nil {
			e.Doubt = *why
		}
	case "crc":
		// One of another kind is another writer's.
		if err = errNotEntry; value[0] == '-' || value[0] >= '0' && value[0] <= '9' {
			d.sum, err = value, nil
		}
	default:
		err = errNotEntry
	}
	if err == nil {
		return nil
	}
	var flat bytes.Buffer
	if err := json.Compact(&flat, value); err != nil {
		return err
	}
	e.extra = append(e.extra, member{name, flat.Bytes()})
	return nil
}

func wrapEntry(what string, err error) error {
	if err == nil {
		return fmt.Errorf("%w: %s", errNotEntry, what)
	}
	return fmt.Errorf("%w: %s: %w", errNotEntry, what, err)
}
