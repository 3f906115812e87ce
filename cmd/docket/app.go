package main

import (
	"context"
	"errors"
	"io"
	"iter"
	"os"

	"github.com/docket-go/docket/lock"
)

// A verb is one command of docket.
type verb struct {
	name     string
	args     string // as help shows them
	short    string // one line
	more     string // lines that help shows beneath the usage; most verbs need none
	example  string // command lines to copy
	flags    []verbFlag
	min, max int    // how many arguments it takes; max < 0 means any number
	surplus  string // what to do with those that are too many, where the usage does not tell
	hidden   bool
	changes  bool // it goes on if nobody reads its output any more
	brief    bool // it reads and ends: nothing is broken off by a signal before it is heard
	run      func(ctx context.Context, c *call) error
}

// A row of the table makes its verb, which most runs of docket need one of.
type row struct {
	name string
	verb func() verb
}

// globalFlags are those that every verb has, on either side of it.
func globalFlags() []verbFlag {
	return []verbFlag{
		{name: "store", usage: "the `DIR` that holds the sessions (else $DOCKET_HOME, else ~/.local/state/docket)"},
		{name: "json", takes: nothing, usage: "print one JSON object a line"},
		{name: "verbose", takes: nothing, usage: "say more on standard error"},
		{name: "lock-wait", takes: aTime, initial: lock.DefaultWait.String(), usage: "how long to wait for a lock that another process holds; negative means without end"},
		{name: "version", also: "v", takes: nothing, usage: "print the version"},
		{name: "help", also: "h", takes: nothing, usage: "show help"},
	}
}

// verbNamed returns the verb of that name. The others are not made: there are many, and
// most runs of docket are short.
func verbNamed(name string) (verb, bool) {
	for _, row := range table() {
		if row.name == name {
			return row.verb(), true
		}
	}
	return verb{}, false
}

// verbs yields every verb, in the order in which docket --help shows them.
func verbs(yield func(v verb) bool) {
	for _, row := range table() {
		if !yield(row.verb()) {
			return
		}
	}
}

// shownVerbs yields the verbs for people.
func shownVerbs() iter.Seq[verb] {
	return func(yield func(v verb) bool) {
		for v := range verbs {
			if !v.hidden && !yield(v) {
				return
			}
		}
	}
}

func shownNames() (names []string) {
	for v := range shownVerbs() {
		names = append(names, v.name)
	}
	return names
}

// run is the whole program without its process. When ctx ends nothing new is
// started; what is being handed over to an agent goes on until hard ends.
func run(ctx, hard context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	report := reporter{w: stderr}
	out := newOutput(stdout)
	in, err := parse(args)
	report.verb = in.verb.name
	if err == nil {
		c := &call{
			verb: in.verb.name, hard: hard, flags: in.flags, args: in.args, literal: in.literal,
			stdin: stdin, out: out, report: &report, env: os.Getenv,
		}
		err = c.start(ctx, in, stderr)
	}
	if flushErr := out.flush(); err == nil {
		err = flushErr
	}
	return report.end(err)
}

// start does what the command line asks for: most often, to run its verb.
func (c *call) start(ctx context.Context, in invocation, stderr io.Writer) error {
	unnamed := in.verb.name == ""
	switch {
	case in.help && unnamed:
		c.out.write(docketHelp())
	case c.flags.Bool("version"):
		c.out.people("docket version %s\n", version())
	case in.help && in.verb.name == "help":
		c.out.write(docketHelp())
	case in.help:
		c.out.write(in.verb.help())
	case unnamed:
		_, err := stderr.Write(docketHelp())
		return errors.Join(err, usagef("no verb: choose one of the above"))
	default:
		c.out.json = c.flags.Bool("json")
		return c.run(ctx, in.verb)
	}
	return nil
}
