package acp

import (
	"bytes"
	"encoding/json"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/docket-go/docket/adapter/host"
)

const (
	maxTitle    = 200      // bytes of a title
	maxSecrets  = 256      // values of a tool's input and output that are known
	secretBytes = 64 << 10 // of them together
)

// secrets are the values that a tool call's input, output, content and locations
// hold: what its title must not repeat.
type secrets struct {
	values []string
	bytes  int
	over   bool // there are more than are kept
	seen   bool // the agent has shown an input or locations at all
}

// learn takes the strings and numbers out of a JSON value.
func (s *secrets) learn(raw json.RawMessage) {
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var value any
	if d.Decode(&value) != nil {
		s.over = true
		return
	}
	s.walk(value)
}

// walk passes over the names of fields, and over what the protocol itself calls a
// type.
func (s *secrets) walk(value any) {
	switch v := value.(type) {
	case string:
		s.add(v)
	case json.Number:
		s.add(v.String())
	case []any:
		for _, item := range v {
			s.walk(item)
		}
	case map[string]any:
		for name, field := range v {
			if _, word := field.(string); !word || name != "type" {
				s.walk(field)
			}
		}
	}
}

func (s *secrets) add(value string) {
	value = strings.TrimSpace(value)
	if len(value) < 3 {
		return
	}
	if len(s.values) >= maxSecrets || s.bytes+len(value) > secretBytes {
		s.over = true
		return
	}
	s.values = append(s.values, value)
	s.bytes += len(value)
}

// plainWord is compiled when it is first used: most programs that know this driver
// never run an agent.
var plainWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\pL{1,40}$`) })

// public returns what may be shown of a title.
//
// Agents make titles of what a tool is given: of a command, say, the command itself.
// So of the title of a command, and of a call whose input nobody has seen, only the
// first word is shown, if it is the name of a program or a plain word; of others, what
// does not repeat a known value.
func (s *secrets) public(title, class string) string {
	title, _, _ = strings.Cut(strings.Trim(strings.TrimSpace(title), "`"), "\n")
	if title = host.Printable(host.Clip(title, 4*maxTitle)); title == "" {
		return ""
	}
	switch {
	case class == "execute":
		return host.ProgramName(title)
	case s.over || !s.seen:
		return firstWord(title)
	}
	for _, v := range s.values {
		if strings.Contains(v, title) {
			return ""
		}
		title = strings.ReplaceAll(title, v, host.Hidden)
	}
	words := strings.Fields(title)
	for i, w := range words {
		if s.repeats(w) {
			words[i] = host.Hidden
		}
	}
	return host.Clip(strings.Join(words, " "), maxTitle)
}

// repeats reports whether a word looks like data and is part of a known value.
func (s *secrets) repeats(word string) bool {
	if strings.ContainsAny(word, "=@?&") {
		return true
	}
	word = strings.Trim(word, ".,:;!?'\"()")
	if plainWord().MatchString(word) {
		return false
	}
	for _, v := range s.values {
		if len(word) >= 3 && strings.Contains(v, word) {
			return true
		}
	}
	return false
}

// firstWord returns the first word, if it is a plain one.
func firstWord(title string) string {
	words := strings.Fields(title)
	if len(words) == 0 || !plainWord().MatchString(path.Base(words[0])) {
		return ""
	}
	return path.Base(words[0])
}
