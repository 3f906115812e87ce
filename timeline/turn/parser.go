package turn

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// A parser reads a line from its start, and knows one spelling of everything: that of
// append. After an error it reads nothing.
type parser struct {
	line []byte
	at   int
	err  error
}

func (p *parser) fail(want string) { p.failWith(fmt.Errorf("at byte %d %s should stand", p.at, want)) }

func (p *parser) failWith(err error) {
	if p.err == nil {
		p.err = err
	}
}

// has passes s if it stands next.
func (p *parser) has(s string) bool {
	if p.err != nil || len(p.line)-p.at < len(s) || string(p.line[p.at:p.at+len(s)]) != s {
		return false
	}
	p.at += len(s)
	return true
}

func (p *parser) literal(s string) {
	if !p.has(s) {
		p.fail(s)
	}
}

// hasNext passes a name in an object of which each field may be absent: behind the
// opening brace, where first is true, or a comma.
func (p *parser) hasNext(name string, first *bool) bool {
	before := p.at
	separator := `,`
	if *first {
		separator = `{`
	}
	if !p.has(separator) || !p.has(name) {
		p.at = before
		return false
	}
	*first = false
	return true
}

// field reads a field that must be next.
func (p *parser) field(name string) string {
	p.name(name)
	return p.string()
}

func (p *parser) number(name string) uint64 {
	p.name(name)
	return p.digits()
}

func (p *parser) name(name string) {
	p.literal(`,"`)
	p.literal(name)
	p.literal(`":`)
}

// filled reads a string that is absent where it is empty.
func (p *parser) filled() string {
	s := p.string()
	if s == "" {
		p.fail("something")
	}
	return s
}

func (p *parser) digits() uint64 {
	from := p.at
	for p.at < len(p.line) && '0' <= p.line[p.at] && p.line[p.at] <= '9' {
		p.at++
	}
	text := string(p.line[from:p.at])
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || len(text) > 1 && text[0] == '0' {
		p.fail("a number")
	}
	return n
}

func (p *parser) string() string {
	p.literal(`"`)
	if p.err != nil {
		return ""
	}
	var out []byte // used once there is an escape
	from := p.at
	for p.at < len(p.line) {
		switch c := p.line[p.at]; {
		case c == '"':
			text := p.line[from:p.at]
			p.at++
			if out != nil {
				text = append(out, text...)
			}
			if !utf8.Valid(text) {
				p.fail("valid UTF-8")
			}
			return string(text)
		case c == '\\':
			out = append(out, p.line[from:p.at]...)
			out = append(out, p.escape())
			from = p.at
		case c < ' ':
			p.fail("an escape")
			return ""
		default:
			p.at++
		}
		if p.err != nil {
			return ""
		}
	}
	p.fail("the end of a string")
	return ""
}

// escape reads an escape of a byte that has no other spelling.
func (p *parser) escape() byte {
	for c := range byte(' ') {
		if p.has(escapes()[c]) {
			return c
		}
	}
	switch {
	case p.has(`\"`):
		return '"'
	case p.has(`\\`):
		return '\\'
	}
	p.fail("an escape of docket")
	return 0
}

// escapes are the spellings of the control characters.
var escapes = sync.OnceValue(func() (all [' ']string) {
	for c := range byte(len(all)) {
		s := appendString(nil, string(rune(c)))
		all[c] = string(s[1 : len(s)-1])
	}
	return all
})

// end reads the end of the object, with the engine's fields or without.
func (p *parser) end() {
	if p.has(`,"crc":"`) {
		crc, rest, found := bytes.Cut(p.line[p.at:], []byte(`"`))
		if !found || len(crc) != 8 || strings.Trim(string(crc), "0123456789abcdef") != "" {
			p.fail("a checksum")
			return
		}
		p.at = len(p.line) - len(rest)
		p.literal(`,"seq":`)
		p.digits()
	}
	p.literal(`}`)
	if p.at < len(p.line) {
		p.fail("the end of the line")
	}
}
