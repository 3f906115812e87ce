package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// A grammar knows the flags of every verb, so that a command line can be taken
// apart before the flags are parsed: they may stand before or after the other
// arguments, and what follows "--" is never a flag.
type grammar struct {
	globals flagNames
	verbs   map[string]flagNames
	shown   []string // the verbs for people
}

// flagNames maps every name of a flag to its first name and its kind.
type flagNames map[string]flagName

type flagName struct {
	name       string
	takesValue bool
	fault      func(value string) string // what is wrong with a value that is given; nil takes all
}

// An invocation is a command line taken apart.
type invocation struct {
	verb    string   // empty if none was named
	globals []string // "--name" or "--name=value", in the order given
	flags   []string // those of the verb, likewise
	args    []string // everything that is no flag
	literal int      // args[literal:] came after "--"
	help    bool
}

// A usageError is a command line that cannot be understood.
type usageError struct {
	verb string // empty if the fault is before it
	text string // what is wrong and what to do
}

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return &usageError{text: fmt.Sprintf(format, args...)} }

func newGrammar(globals []cli.Flag, commands []*cli.Command) grammar {
	g := grammar{globals: namesOf(globals), verbs: map[string]flagNames{}}
	for _, c := range commands {
		g.verbs[c.Name] = namesOf(c.Flags)
		if !c.Hidden {
			g.shown = append(g.shown, c.Name)
		}
	}
	return g
}

func namesOf(flags []cli.Flag) flagNames {
	names := flagNames{"help": {name: "help"}, "h": {name: "help"}}
	for _, f := range flags {
		doc, ok := f.(cli.DocGenerationFlag)
		all := f.Names() // which puts them together each time
		for _, name := range all {
			names[name] = flagName{name: all[0], takesValue: ok && doc.TakesValue(), fault: faultIn(f)}
		}
	}
	return names
}

// parse takes a command line apart, without the program's name. Flags keep their
// order among themselves, and so do the other arguments. The error is a
// [*usageError].
func (g grammar) parse(argv []string) (invocation, error) {
	var in invocation
	for i := 0; i < len(argv); i++ {
		arg := argv[i]
		switch {
		case arg == "--":
			return g.parseLiteral(in, argv[i+1:])
		case len(arg) > 1 && arg[0] == '-':
			used, err := g.parseFlag(&in, arg, argv[i+1:])
			if err != nil {
				return in, err
			}
			i += used
		case in.verb == "":
			if err := g.setVerb(&in, arg); err != nil {
				return in, err
			}
		default:
			in.args = append(in.args, arg)
		}
	}
	in.literal = len(in.args)
	return in, nil
}

// parseLiteral takes what follows "--".
func (g grammar) parseLiteral(in invocation, rest []string) (invocation, error) {
	if in.verb == "" && len(rest) > 0 {
		if err := g.setVerb(&in, rest[0]); err != nil {
			return in, err
		}
		rest = rest[1:]
	}
	in.literal = len(in.args)
	in.args = append(in.args, rest...)
	return in, nil
}

func (g grammar) setVerb(in *invocation, name string) error {
	if _, ok := g.verbs[name]; !ok {
		return usagef("%q is no verb: %ssee docket --help", name, g.meant(name))
	}
	in.verb = name
	return nil
}

// parseFlag takes the flag arg, and its value from rest if it needs one and has
// none; it returns how much of rest it used.
func (g grammar) parseFlag(in *invocation, arg string, rest []string) (used int, err error) {
	given, value, hasValue := strings.Cut(strings.TrimPrefix(arg[1:], "-"), "=")
	f, global, err := g.lookup(*in, arg, given)
	if err != nil {
		return 0, err
	}
	if f.takesValue && !hasValue {
		if len(rest) == 0 {
			return 0, &usageError{in.verb, fmt.Sprintf("flag --%s has no value: give one", f.name)}
		}
		value, hasValue, used = rest[0], true, 1
	}
	if hasValue && f.fault != nil {
		if fault := f.fault(value); fault != "" {
			return 0, &usageError{in.verb, "--" + f.name + " " + fault}
		}
	}
	canonical := "--" + f.name
	if hasValue {
		canonical += "=" + value
	}
	switch {
	case f.name == "help":
		in.help = true
	case global:
		in.globals = append(in.globals, canonical)
	default:
		in.flags = append(in.flags, canonical)
	}
	return used, nil
}

func (g grammar) lookup(in invocation, arg, name string) (f flagName, global bool, err error) {
	if f, ok := g.verbs[in.verb][name]; ok {
		return f, false, nil
	}
	if f, ok := g.globals[name]; ok {
		return f, true, nil
	}
	shown, _, _ := strings.Cut(arg, "=")
	if in.verb == "" {
		return f, false, usagef("unknown flag %s: the flags of a verb stand after it: see docket --help", shown)
	}
	hint := "see docket " + in.verb + " --help"
	switch in.verb {
	case "host":
		hint = "the command of the agent, with its flags, stands after --, as in docket host ID -- CMD " + shown
	case "send":
		hint = "put text that starts with - after --, as in docket send ID -- " + shown + ", or on standard input"
	}
	if meant := nearest(name, slices.Concat(keys(g.verbs[in.verb]), keys(g.globals))); meant != "" {
		hint = "did you mean --" + meant + "? else " + hint
	}
	return f, false, &usageError{in.verb, fmt.Sprintf("unknown flag %s: %s", shown, hint)}
}

// meant asks about the verb that a name is close to.
func (g grammar) meant(name string) string {
	if verb := nearest(name, g.shown); verb != "" {
		return "did you mean docket " + verb + "? else "
	}
	return ""
}

// argv returns the command line in the one order that the flag parser takes. The
// arguments that are no flags are not in it: nothing is left to misread.
func (in invocation) argv() []string {
	argv := append([]string{"docket"}, in.globals...)
	if in.verb != "" {
		argv = append(argv, in.verb)
	}
	if in.help {
		return append(argv, "--help")
	}
	return append(argv, in.flags...)
}
