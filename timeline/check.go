package timeline

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// maxIDBytes bounds what names a message or a request: headers list them.
const maxIDBytes = 1024

// A checker looks at the parts of one entry and keeps the first thing that is
// wrong.
type checker struct {
	kind    string
	maxText int // negative: no bound
	err     error
}

// text refuses a string that cannot be stored.
func (c *checker) text(field, s string, limit int) {
	switch {
	case c.err != nil:
	case limit >= 0 && len(s) > limit:
		c.err = fmt.Errorf("timeline: %w", &TooLargeError{Field: c.kind + " " + field, Bytes: len(s), Limit: limit})
	case !utf8.ValidString(s):
		c.err = fmt.Errorf("%w: %s of a %s line is not valid UTF-8", ErrText, field, c.kind)
	case strings.IndexByte(s, 0) >= 0:
		c.err = fmt.Errorf("%w: %s of a %s line holds a NUL", ErrText, field, c.kind)
	}
}

// id refuses a name that is empty or long.
func (c *checker) id(field, s string) {
	if c.err == nil && s == "" {
		c.err = fmt.Errorf("%w: a %s line needs a %s", ErrEntry, c.kind, field)
	}
	c.text(field, s, maxIDBytes)
}

// time refuses a year that the format has no place for.
func (c *checker) time(t time.Time) {
	if y := t.UTC().Year(); c.err == nil && !t.IsZero() && (y < 0 || y > 9999) {
		c.err = fmt.Errorf("%w: a %s line cannot hold the year %d", ErrEntry, c.kind, y)
	}
}

// composed is the bound of a text with the inserts that delivery adds to it.
func (c *checker) composed() int {
	if c.maxText > math.MaxInt/2 {
		return c.maxText
	}
	return 2 * c.maxText
}

func (s Status) check(maxText int) error {
	c := checker{kind: string(KindStatus), maxText: maxText}
	c.time(s.Time)
	c.text("status", s.Status, maxText)
	c.text("proposal", s.Proposal, maxText)
	c.text("note", s.Note, maxText)
	return c.err
}

func (s Sent) check(maxText int) error {
	c := checker{kind: string(KindSent), maxText: maxText}
	c.time(s.Time)
	c.id("mid", s.MID)
	c.text("text", s.Text, maxText)
	c.text("from", s.From, maxText)
	if v := s.ReplyVia; c.err == nil && v != "" && v != Terminal && v != Note {
		c.err = fmt.Errorf("%w: reply channel %q is neither %q nor %q", ErrEntry, v, Terminal, Note)
	}
	c.text("delivered text", s.Delivered, c.composed())
	c.attributes(s.Attributes, maxText)
	if r := s.Receipt; r != nil {
		c.id("operation", r.Operation)
		c.id("request digest", r.RequestDigest)
		c.text("payload hash", r.PayloadHash, maxText)
		c.text("frozen text", r.Delivery.Text, c.composed())
		c.text("frozen sender", r.Delivery.From, maxText)
	}
	return c.err
}

// attributes bounds all of them together.
func (c *checker) attributes(all map[string]string, left int) {
	if len(all) == 0 {
		return
	}
	bounded := left >= 0
	for _, name := range slices.Sorted(maps.Keys(all)) {
		v := all[name]
		c.text("attribute name", name, left)
		c.text("attribute "+name, v, left)
		if bounded {
			left = max(0, left-len(name)-len(v))
		}
	}
}

func (s Settled) check(maxText int) error {
	c := checker{kind: kindSettled, maxText: maxText}
	c.time(s.Time)
	c.id("mid", s.MID)
	c.request(s.Operation, s.RequestDigest)
	return c.err
}

func (r Revoked) check(maxText int) error {
	c := checker{kind: kindRevoked, maxText: maxText}
	c.time(r.Time)
	c.id("mid", r.MID)
	c.text("reason", r.Reason, maxText)
	c.request(r.Operation, r.RequestDigest)
	return c.err
}

// request refuses half a key.
func (c *checker) request(operation, digest string) {
	if operation != "" || digest != "" {
		c.id("operation", operation)
		c.id("request digest", digest)
	}
}
