package main

import (
	"cmp"
	"fmt"
	"strings"
)

// An invocation is a command line taken apart: flags may stand before or after the
// other arguments, and what follows "--" is never a flag.
type invocation struct {
	verb    verb // without a name if none was named
	flags   givenFlags
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

// parse takes a command line apart, without the program's name. Flags keep their
// order among themselves, and so do the other arguments. The error is a
// [*usageError].
func parse(argv []string) (invocation, error) {
	in := invocation{flags: givenFlags{known: globalFlags()}}
	for i := 0; i < len(argv); i++ {
		arg := argv[i]
		switch {
		case arg == "--":
			err := in.parseLiteral(argv[i+1:])
			return in, err
		case len(arg) > 1 && arg[0] == '-':
			used, err := in.parseFlag(arg, argv[i+1:])
			if err != nil {
				return in, err
			}
			i += used
		case in.verb.name == "":
			if err := in.setVerb(arg); err != nil {
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
func (in *invocation) parseLiteral(rest []string) error {
	if in.verb.name == "" && len(rest) > 0 {
		if err := in.setVerb(rest[0]); err != nil {
			return err
		}
		rest = rest[1:]
	}
	in.literal = len(in.args)
	in.args = append(in.args, rest...)
	return nil
}

func (in *invocation) setVerb(name string) error {
	v, ok := verbNamed(name)
	if !ok {
		return usagef("%q is no verb: %ssee docket --help", name, meantVerb(name))
	}
	in.verb = v
	in.flags.known = append(in.flags.known, v.flags...)
	return nil
}

// parseFlag takes the flag arg, and its value from rest if it needs one and has
// none; it returns how much of rest it used.
func (in *invocation) parseFlag(arg string, rest []string) (used int, err error) {
	name, value, hasValue := strings.Cut(strings.TrimPrefix(arg[1:], "-"), "=")
	f, ok := flagNamed(name, in.flags.known)
	if !ok {
		return 0, in.unknown(arg, name)
	}
	switch {
	case hasValue:
	case f.takes == nothing:
		value = "true"
	case len(rest) == 0:
		return 0, &usageError{in.verb.name, fmt.Sprintf("flag --%s has no value: give one", f.name)}
	default:
		value, used = rest[0], 1
	}
	if fault := f.fault(value); fault != "" {
		return 0, &usageError{in.verb.name, "--" + f.name + " " + fault}
	}
	if f.name == "help" {
		in.help = true
	}
	in.flags.add(f, value)
	return used, nil
}

// unknown says of a flag that is none what was meant.
func (in *invocation) unknown(arg, name string) error {
	shown, _, _ := strings.Cut(arg, "=")
	if in.verb.name == "" {
		return usagef("unknown flag %s: the flags of a verb stand after it: see docket --help", shown)
	}
	hint := "see docket " + in.verb.name + " --help"
	switch in.verb.name {
	case "host":
		hint = "the command of the agent, with its flags, stands after --, as in docket host ID -- CMD " + shown
	case "send":
		hint = "put text that starts with - after --, as in docket send ID -- " + shown + ", or on standard input"
	}
	if meant := nearest(name, flagNames(in.flags.known)); meant != "" {
		hint = "did you mean --" + meant + "? else " + hint
	}
	return &usageError{in.verb.name, fmt.Sprintf("unknown flag %s: %s", shown, hint)}
}

// meantVerb asks about the verb that a name stands for elsewhere, or is close to.
func meantVerb(name string) string {
	meant := cmp.Or(otherNames()[name], nearest(name, shownNames()))
	if meant == "" {
		return ""
	}
	return "did you mean docket " + meant + "? else "
}

// flagNames are all by which flags may be given.
func flagNames(flags []verbFlag) (names []string) {
	for _, f := range flags {
		names = append(names, f.names()...)
	}
	return names
}
