package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A verbFlag is one flag of a verb, or of all.
type verbFlag struct {
	name    string
	also    string // another name; most have none
	takes   taken
	initial string // its value where it is not given
	unset   string // how help calls that, where it does not show the value
	usage   string // one line, with what it takes between backquotes
}

// What a flag takes.
type taken int

const (
	aText taken = iota
	nothing
	aNumber
	aTime   // with its unit
	several // texts: it may be repeated
)

// mayBeEmpty are the flags for text of people, which may be no text, and the one for
// cursors, which are looked at later.
var mayBeEmpty = []string{"note", "proposal", "title", "after"}

// names are those by which f may be given.
func (f verbFlag) names() []string {
	if f.also == "" {
		return []string{f.name}
	}
	return []string{f.name, f.also}
}

// flagNamed returns the flag of that name.
func flagNamed(name string, flags []verbFlag) (verbFlag, bool) {
	for _, f := range flags {
		if f.name == name || f.also == name && name != "" {
			return f, true
		}
	}
	return verbFlag{}, false
}

// fault says what is wrong with a value of f, in words that go behind its name; empty
// means that nothing is.
func (f verbFlag) fault(value string) string {
	switch f.takes {
	case aTime:
		return timeFault(value)
	case aNumber:
		if _, err := strconv.Atoi(value); err != nil {
			return fmt.Sprintf("%q is no number: give one such as 20", value)
		}
	case nothing:
		if _, err := strconv.ParseBool(value); err != nil {
			return fmt.Sprintf("%q is neither true nor false: give the flag alone", value)
		}
	case aText:
		if value == "" && !slices.Contains(mayBeEmpty, f.name) {
			return "is empty: give a value, or leave the flag out"
		}
	}
	return ""
}

func timeFault(value string) string {
	if _, err := time.ParseDuration(value); err == nil {
		return ""
	}
	if _, err := strconv.ParseFloat(value, 64); err == nil {
		return fmt.Sprintf("%s has no unit: give a unit, such as 5s", value)
	}
	return fmt.Sprintf("%q is no time: give one such as 90s or 30m", value)
}

// A givenFlags is the flags of a command line. They have no faults.
type givenFlags struct {
	known  []verbFlag
	values map[string][]string // by the first name, in the order given
}

func (g *givenFlags) add(f verbFlag, value string) {
	if g.values == nil {
		g.values = map[string][]string{}
	}
	g.values[f.name] = append(g.values[f.name], value)
}

// IsSet reports whether the flag was given.
func (g givenFlags) IsSet(name string) bool { return len(g.values[name]) > 0 }

// String returns the value of a flag, which is the last one if it was given twice.
func (g givenFlags) String(name string) string {
	if all := g.values[name]; len(all) > 0 {
		return all[len(all)-1]
	}
	f, _ := flagNamed(name, g.known)
	return f.initial
}

// Bool reports whether a flag that takes nothing was given.
func (g givenFlags) Bool(name string) bool {
	is, _ := strconv.ParseBool(g.String(name))
	return is
}

// Int returns the value of a flag that takes a number.
func (g givenFlags) Int(name string) int {
	n, _ := strconv.Atoi(g.String(name))
	return n
}

// Duration returns the value of a flag that takes a time.
func (g givenFlags) Duration(name string) time.Duration {
	d, _ := time.ParseDuration(g.String(name))
	return d
}

// StringSlice returns the values of a flag that may be repeated, without the blanks
// around them.
func (g givenFlags) StringSlice(name string) []string {
	var all []string
	for _, value := range g.values[name] {
		all = append(all, strings.TrimSpace(value))
	}
	return all
}
