package main

import "strings"

// A spot is the place in a command line that is being completed.
type spot struct {
	verb    string              // empty if it is what is typed
	args    []string            // those before it
	literal bool                // it stands behind "--"
	flag    string              // whose value it is; empty if it is none's
	prefix  string              // stands before each candidate: "--flag=", or what a list has already
	word    string              // what is typed of it
	given   map[string][]string // the flags before it, with their values
}

// spot finds the place of the last word. It takes command lines as they grow, so
// that nothing in them is wrong yet: what is not known is passed over.
func spotOf(words []string) spot {
	s := spot{given: map[string][]string{}}
	if len(words) == 0 {
		return s
	}
	last := len(words) - 1
	for _, w := range words[:last] {
		s.pass(w)
	}
	s.word = words[last]
	if s.flag != "" && s.word == "=" {
		s.word = "" // a shell that takes --flag=value for three words
	}
	if name, value, ok := s.flagIn(s.word); ok && s.flag == "" && strings.Contains(s.word, "=") {
		s.flag, s.prefix, s.word = flagOf(s.verb, name).name, strings.TrimSuffix(s.word, value), value
	}
	return s
}

// pass goes over one word that is complete.
func (s *spot) pass(w string) {
	if s.flag != "" {
		if w != "=" {
			s.given[s.flag] = append(s.given[s.flag], w)
			s.flag = ""
		}
		return
	}
	name, value, ok := s.flagIn(w)
	switch {
	case w == "--" && !s.literal:
		s.literal = true
	case ok:
		f := flagOf(s.verb, name)
		if strings.Contains(w, "=") || f.takes == nothing {
			s.given[f.name] = append(s.given[f.name], value)
		} else {
			s.flag = f.name
		}
	case s.verb == "":
		s.verb = w
	default:
		s.args = append(s.args, w)
	}
}

// flagIn takes a word that is a flag apart.
func (s *spot) flagIn(w string) (name, value string, ok bool) {
	if s.literal || len(w) < 2 || w[0] != '-' || w == "--" {
		return "", "", false
	}
	name, value, _ = strings.Cut(strings.TrimPrefix(w[1:], "-"), "=")
	return name, value, true
}

// flag returns what is known of a flag of the verb, or of all.
func flagOf(verb, name string) verbFlag {
	v, _ := verbNamed(verb)
	f, ok := flagNamed(name, v.flags)
	if !ok {
		f, ok = flagNamed(name, globalFlags())
	}
	if !ok {
		f.takes = nothing
	}
	return f
}
