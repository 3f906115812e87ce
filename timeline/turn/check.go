package turn

import (
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/docket-go/docket/timeline"
)

const (
	// maxNameBytes bounds what names something: ids, codes, tokens.
	maxNameBytes = 1024

	// maxStateBytes and maxStates bound what [Writer.State] keeps in memory.
	maxStateBytes = 16 << 10
	maxStates     = 64
)

// A checker looks at the parts of one event and keeps the first thing that is wrong.
type checker struct {
	kind    Kind
	maxText int // negative: no bound
	err     error
}

// text refuses a string that is too large or not valid UTF-8.
func (c *checker) text(field, s string, limit int) {
	switch {
	case c.err != nil:
	case limit >= 0 && len(s) > limit:
		c.err = &timeline.TooLargeError{Field: fmt.Sprintf("%s of a %s event", field, c.kind), Bytes: len(s), Limit: limit}
	case !utf8.ValidString(s):
		c.err = fmt.Errorf("%w: %s of a %s event", ErrText, field, c.kind)
	}
}

func (c *checker) name(field, s string) { c.text(field, s, maxNameBytes) }

// needed refuses a name that is empty.
func (c *checker) needed(field, s string) {
	if c.err == nil && s == "" {
		c.err = fmt.Errorf("%w: a %s event needs a %s", ErrEvent, c.kind, field)
	}
	c.name(field, s)
}

// oneOf refuses a value that the closed vocabulary does not have.
func oneOf[S ~string](c *checker, field string, s S, all ...S) {
	if c.err == nil && !slices.Contains(all, s) {
		c.err = fmt.Errorf("%w: %s %q of a %s event is none of %q", ErrEvent, field, s, c.kind, all)
	}
}

func (n Native) check(c *checker) {
	c.name("native provider", n.Provider)
	c.name("native session", n.Session)
	c.name("native turn", n.Turn)
	c.name("native item", n.Item)
}

// checkPayload returns what is wrong with an event's parts; see [checker].
func checkPayload(n Native, p Payload, maxText int) error {
	if p == nil {
		return fmt.Errorf("%w: there is none", ErrEvent)
	}
	c := checker{kind: p.kind(), maxText: maxText}
	n.check(&c)
	p.check(&c)
	return c.err
}

func (s Started) check(c *checker) {
	c.name("mid", s.MID)
	c.name("token", s.Token)
	left := c.maxText // for all attributes together
	for _, name := range slices.Sorted(maps.Keys(s.Attributes)) {
		value := s.Attributes[name]
		c.text("attribute name", name, left)
		c.text("attribute "+name, value, left)
		if c.maxText >= 0 {
			left = max(0, left-len(name)-len(value))
		}
	}
}

func (t Text) check(c *checker)           { c.text("text", t.Text, c.maxText) }
func (t Thought) check(c *checker)        { c.text("text", t.Text, c.maxText) }
func (r ResultObserved) check(c *checker) { c.text("text", r.Text, c.maxText) }
func (Usage) check(*checker)              {}

func (t Tool) check(c *checker) {
	c.name("id", t.ID)
	c.text("title", t.Title, c.maxText)
	c.name("class", t.Class)
	oneOf(c, "status", t.Status, ToolPending, ToolRunning, ToolDone, ToolFailed)
}

func (p Permission) check(c *checker) {
	c.needed("id", p.ID)
	c.text("title", p.Title, c.maxText)
	for _, option := range p.Options {
		c.name("option", option)
	}
	if c.err == nil && len(p.Options) > maxStates {
		c.err = fmt.Errorf("%w: a %s event with %d options: offer at most %d", ErrEvent, c.kind, len(p.Options), maxStates)
	}
	oneOf(c, "state", p.State, PermissionAsked, PermissionGranted, PermissionDenied, PermissionRevoked)
}

func (d Diagnostic) check(c *checker) {
	oneOf(c, "severity", d.Severity, SeverityInfo, SeverityWarning, SeverityError)
	c.name("code", d.Code)
	c.text("text", d.Text, c.maxText)
}

func (s State) check(c *checker) {
	c.needed("name", s.Name)
	c.text("value", s.Value, maxStateBytes)
}

func (f Finished) check(c *checker) {
	oneOf(c, "outcome", f.Outcome, Success, Failure, Cancelled, Interrupted)
	c.name("code", f.Code)
	c.text("diagnostic", f.Diagnostic, c.maxText)
}
