package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// An output writes results: for people, or with json one object a line. It keeps
// the first error and writes nothing from then on. It is safe for concurrent use.
type output struct {
	json bool

	mu  sync.Mutex
	w   *bufio.Writer
	err error
}

// atOnce is how much is written at once: what a pipe holds.
const atOnce = 64 << 10

func newOutput(w io.Writer) *output { return &output{w: bufio.NewWriterSize(w, atOnce)} }

// people writes text for people; control characters in it are made visible.
func (o *output) people(format string, args ...any) {
	o.write([]byte(plain(fmt.Sprintf(format, args...))))
}

// object writes v as one line of JSON.
func (o *output) object(v any) error {
	line, err := encode(v)
	if err == nil {
		o.line(line)
	}
	return err
}

// line writes one line of JSON, in which what would act on a terminal, or hide, is
// escaped.
func (o *output) line(json []byte) {
	o.write(append(escape(json), '\n'))
}

func (o *output) write(b []byte) { o.append(func(dst []byte) []byte { return append(dst, b...) }) }

// append writes what add appends: text of which nothing acts on a terminal.
func (o *output) append(add func(dst []byte) []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		_, o.err = o.w.Write(add(o.w.AvailableBuffer()))
	}
}

// flush hands over what was written. The error is that of any write since the
// beginning.
func (o *output) flush() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.err = o.w.Flush()
	}
	if o.err != nil {
		return fmt.Errorf("%w: %w: what was done is done; see docket log for it", errUnwritten, o.err)
	}
	return nil
}

// encode returns v as compact JSON without newline, and without the escapes that
// only HTML needs.
func encode(v any) ([]byte, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return []byte(strings.TrimSuffix(b.String(), "\n")), nil
}

// orNull is a text that is null in JSON where there is none.
func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// stamp is a time as JSON shows it, null where there is none.
func stamp(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := t.UTC().Format("2006-01-02T15:04:05.000Z07:00")
	return &s
}

// when is a time as people are shown it.
func when(t time.Time) string { return string(appendWhen(nil, t)) }

func appendWhen(dst []byte, t time.Time) []byte {
	if t.IsZero() {
		return append(dst, "at an unknown time"...)
	}
	start := len(dst)
	dst = t.UTC().AppendFormat(dst, time.RFC3339) // quicker than a layout with a blank
	dst[start+bytes.IndexByte(dst[start:], 'T')] = ' '
	return dst
}
