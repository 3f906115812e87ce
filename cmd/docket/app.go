package main

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/docket-go/docket/lock"
)

// A verb is one command of docket.
type verb struct {
	name     string
	args     string // as help shows them
	short    string // one line
	more     string // lines that help shows beneath the usage; most verbs need none
	example  string // command lines to copy
	flags    []cli.Flag
	min, max int    // how many arguments it takes; max < 0 means any number
	surplus  string // what to do with those that are too many, where the usage does not tell
	hidden   bool
	changes  bool // it goes on if nobody reads its output any more
	run      func(ctx context.Context, c *call) error
}

// globalFlags are those that every verb has, on either side of it.
func globalFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "store", Usage: "the `DIR` that holds the sessions (else $DOCKET_HOME, else ~/.local/state/docket)"},
		&cli.BoolFlag{Name: "json", DisableDefaultText: true, Usage: "print one JSON object a line"},
		&cli.BoolFlag{Name: "verbose", DisableDefaultText: true, Usage: "say more on standard error"},
		&cli.DurationFlag{Name: "lock-wait", Value: lock.DefaultWait, Usage: "how long to wait for a lock that another process holds; negative means without end"},
		cli.VersionFlag,
		cli.HelpFlag,
	}
}

const exampleTemplate = `{{.HelpName}} - {{.Usage}}

   {{.HelpName}}{{if .ArgsUsage}} {{.ArgsUsage}}{{end}}{{if .UsageText}}

{{.UsageText}}{{end}}{{if .VisibleFlags}}

Flags, before or after the arguments (and --store, --json, --verbose, --lock-wait):
{{range .VisibleFlags}}   {{.}}
{{end}}{{end}}
Example:
{{.Description}}
`

// app is the command line as the flag parser knows it. Each verb hands its call
// to do.
func app(stdout, stderr io.Writer, do func(v verb, flags *cli.Context) error) *cli.App {
	a := &cli.App{
		Name:            "docket",
		Usage:           "messages to agents: recorded, owed until delivered, never lost",
		UsageText:       "docket VERB [ARGUMENTS] [FLAGS]\n\nThe exit status is 0 done, 1 failed, 2 wrong usage, 3 no such session or message,\n4 refused input, 5 corrupt state found, 6 deadline passed, 7 still owed (drain only).\n\ndocket help TOPIC explains more: " + strings.Join(topicNames(), ", ") + ".",
		Version:         version(),
		HideHelpCommand: true,
		Flags:           globalFlags(),

		DisableSliceFlagSeparator: true,

		Writer:         stdout,
		ErrWriter:      stderr,
		ExitErrHandler: func(*cli.Context, error) {},
		Action:         noVerb,
		OnUsageError:   asUsage,
	}
	for _, v := range verbs() {
		a.Commands = append(a.Commands, v.command(do))
	}
	return a
}

func (v verb) command(do func(v verb, flags *cli.Context) error) *cli.Command {
	return &cli.Command{
		Name: v.name, Usage: v.short, ArgsUsage: v.args, Description: indent(v.example, "   "),
		Flags: v.flags, Hidden: v.hidden, HideHelpCommand: true, UsageText: v.remarks(),
		CustomHelpTemplate: exampleTemplate,
		OnUsageError:       asUsage,
		Action:             func(flags *cli.Context) error { return do(v, flags) },
	}
}

// remarks are what help says about the arguments of v.
func (v verb) remarks() string {
	lines := v.more
	switch {
	case strings.HasPrefix(v.args, "[ID"):
		lines = "Without ID it is about the session that $DOCKET_SESSION names.\n" + lines
	case strings.HasPrefix(v.args, "ID"):
		lines = "The session must be named: $DOCKET_SESSION does not stand for it here.\n" + lines
	}
	return strings.TrimSuffix(lines, "\n")
}

// noVerb is what docket does without a verb.
func noVerb(flags *cli.Context) error {
	flags.App.Writer = flags.App.ErrWriter
	return errors.Join(cli.ShowAppHelp(flags), usagef("no verb: choose one of the above"))
}

// asUsage marks what the flag parser refuses.
func asUsage(flags *cli.Context, err error, _ bool) error {
	return &usageError{verb: flags.Command.Name, text: err.Error() + ": see docket " + flags.Command.Name + " --help"}
}

// run is the whole program without its process. When ctx ends nothing new is
// started; what is being handed over to an agent goes on until hard ends.
func run(ctx, hard context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	report := reporter{w: stderr}
	out := newOutput(stdout)
	var in invocation
	a := app(stdout, stderr, func(v verb, flags *cli.Context) error {
		c := &call{
			verb: v.name, hard: hard, flags: flags, args: in.args, literal: in.literal,
			stdin: stdin, out: out, report: &report, env: os.Getenv,
		}
		out.json = flags.Bool("json")
		return c.run(ctx, v)
	})
	in, err := newGrammar(a.Flags, a.Commands).parse(args)
	report.verb = in.verb
	if err == nil {
		err = a.RunContext(ctx, in.argv())
	}
	if flushErr := out.flush(); err == nil {
		err = flushErr
	}
	return report.end(err)
}
