package turn

import (
	"maps"
	"slices"
	"strconv"
)

const (
	formatVersion = 1
	timeLayout    = "2006-01-02T15:04:05.000Z"
)

// append appends the line of the event, without checksum and sequence. The token
// is private.
func (e Event) append(dst []byte, private bool) []byte {
	dst = append(dst, `{"ts":"`...)
	dst = e.Time.UTC().AppendFormat(dst, timeLayout)
	dst = append(dst, `","kind":"`...)
	dst = append(dst, e.Kind()...)
	dst = append(dst, `","v":`...)
	dst = strconv.AppendInt(dst, formatVersion, 10)
	if e.Turn != "" {
		dst = appendField(dst, "turn", e.Turn)
	}
	dst = e.Payload.append(dst, private)
	return append(e.Native.append(dst), '}')
}

func (n Native) append(dst []byte) []byte {
	if n == (Native{}) {
		return dst
	}
	dst = append(dst, `,"native":{`...)
	first := len(dst)
	for _, f := range [...]struct{ name, value string }{
		{"provider", n.Provider}, {"session", n.Session}, {"turn", n.Turn}, {"item", n.Item},
	} {
		if f.value != "" {
			dst = appendField(dst, f.name, f.value)
		}
	}
	if n.Broker != 0 {
		dst = appendNumber(dst, "broker", n.Broker)
	}
	return append(slices.Delete(dst, first, first+1), '}') // the first field's comma
}

func (s Started) append(dst []byte, private bool) []byte {
	dst = appendField(dst, "mid", s.MID)
	if private && s.Token != "" {
		dst = appendField(dst, "token", s.Token)
	}
	if len(s.Attributes) == 0 {
		return dst
	}
	dst = append(dst, `,"attributes":{`...)
	for i, name := range slices.Sorted(maps.Keys(s.Attributes)) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(append(appendString(dst, name), ':'), s.Attributes[name])
	}
	return append(dst, '}')
}

func (t Text) append(dst []byte, _ bool) []byte           { return appendField(dst, "text", t.Text) }
func (t Thought) append(dst []byte, _ bool) []byte        { return appendField(dst, "text", t.Text) }
func (r ResultObserved) append(dst []byte, _ bool) []byte { return appendField(dst, "text", r.Text) }

func (t Tool) append(dst []byte, _ bool) []byte {
	dst = appendField(dst, "tool", t.ID)
	dst = appendField(dst, "title", t.Title)
	dst = appendField(dst, "class", t.Class)
	return appendField(dst, "status", string(t.Status))
}

func (p Permission) append(dst []byte, _ bool) []byte {
	dst = appendField(dst, "permission", p.ID)
	dst = appendField(dst, "title", p.Title)
	dst = append(dst, `,"options":[`...)
	for i, option := range p.Options {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(dst, option)
	}
	return appendField(append(dst, ']'), "state", string(p.State))
}

func (u Usage) append(dst []byte, _ bool) []byte {
	dst = appendNumber(dst, "input", u.Input)
	dst = appendNumber(dst, "cached", u.Cached)
	dst = appendNumber(dst, "output", u.Output)
	dst = appendNumber(dst, "reasoning", u.Reasoning)
	return appendNumber(dst, "total", u.Total)
}

func (d Diagnostic) append(dst []byte, _ bool) []byte {
	dst = appendField(dst, "severity", string(d.Severity))
	dst = appendField(dst, "code", d.Code)
	return appendField(dst, "text", d.Text)
}

func (s State) append(dst []byte, _ bool) []byte {
	return appendField(appendField(dst, "name", s.Name), "value", s.Value)
}

func (f Finished) append(dst []byte, _ bool) []byte {
	dst = appendField(dst, "outcome", string(f.Outcome))
	dst = appendField(dst, "code", f.Code)
	return appendField(dst, "diagnostic", f.Diagnostic)
}

func appendName(dst []byte, name string) []byte {
	return append(append(append(dst, `,"`...), name...), `":`...)
}

func appendField(dst []byte, name, value string) []byte {
	return appendString(appendName(dst, name), value)
}

func appendNumber(dst []byte, name string, n uint64) []byte {
	return strconv.AppendUint(appendName(dst, name), n, 10)
}

// appendString appends s in the one form in which the log has it: only quotes,
// backslashes and control characters are escaped.
func appendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(append(dst, s[from:]...), '"')
}
