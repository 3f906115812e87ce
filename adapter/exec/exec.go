// Package exec is the adapter that runs one command for every prompt, with the
// prompt on its standard input, and judges by its exit status.
//
// # What it keeps
//
// Nothing. A command lives as long as its Insert; what it starts in the
// background and leaves behind when it exits lives on and is its own affair.
//
// # Guarantees
//
// The command gets the composed text byte for byte, and then the end of the
// input. Its exit status is the answer:
//
//	0                        taken, whether or not it read all of its input
//	75 (EX_TEMPFAIL)         refused, busy
//	any other                refused, with the status and the end of its standard error
//	none: not started        refused
//	none: killed by a signal unconfirmed
//	none: out of time        unconfirmed: its whole process group is killed first
//
// A command that refuses must therefore have left nothing of the prompt at work,
// and a shell that reports a child killed by a signal as 128 and the signal
// refuses, too: a command that cannot tell should kill itself or not exit at all.
// As nobody can look afterwards, a prompt that is unconfirmed is held.
//
// Nothing that the command prints is kept but the last few lines of its standard
// error, and only a program that holds that open delays the answer, by half a
// second, after the command itself has exited.
//
// # Crashes
//
// If the process that calls Insert dies, the command runs on and nobody learns
// its status: the prompt is unconfirmed.
//
// # Format
//
// The command is run by sh -c, so a sh must be there, in a process group of its
// own where the platform has them, with the environment of the calling process
// and
//
//	DOCKET_SESSION  the session that gets the prompt
//	DOCKET_MID      the message's id
//	DOCKET_FROM     the session that sent it, empty for a human
//	DOCKET_HOME     the store, where the adapter was told of it
//
// so that it can call docket itself. Attributes are not handed over.
package exec

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/docket-go/docket/adapter"
)

// Kind is the adapter "exec" for an [adapter.Registry].
var Kind = adapter.Kind{
	Name: "exec",
	Doc:  "runs a command per prompt, the prompt on its stdin; exit 0 = taken, 75 = busy, anything else = refused",
	Settings: []adapter.Setting{
		{
			Name: "cmd", Required: true,
			Doc:     "the command, run by sh -c, with DOCKET_SESSION, DOCKET_MID, DOCKET_FROM and DOCKET_HOME in its environment",
			Allowed: "any command that sh understands",
		},
		{
			Name: "timeout", Default: defaultTimeout.String(), Canonical: positive,
			Doc:     "how long the command may run before its process group is killed",
			Allowed: "a duration above zero, such as 90s, 10m or 2h",
		},
		{
			Name: "dir", Canonical: filepath.Abs,
			Doc:     "the command's working directory; unset means that of the process that hands over",
			Allowed: "the path of a directory",
		},
		{
			Name: "headless", Default: "true", Canonical: adapter.OneOf("true", "false"),
			Doc:     "whether nobody reads the terminal of the command, so that answers come as notes",
			Allowed: "true or false",
		},
	},
	Open: func(s adapter.Session, settings map[string]string) (adapter.Adapter, error) {
		timeout, err := time.ParseDuration(settings["timeout"])
		if err != nil {
			return nil, err
		}
		return New(Options{
			Command: settings["cmd"], Timeout: timeout, Dir: settings["dir"],
			Store: s.Store, Attended: settings["headless"] == "false",
		})
	},
}

const defaultTimeout = 10 * time.Minute

func positive(value string) (string, error) {
	d, err := time.ParseDuration(value)
	if err == nil && d <= 0 {
		err = fmt.Errorf("bad value %q", value)
	}
	return value, err
}

// Options configures an [Adapter].
type Options struct {
	// Command is run by sh -c; it is required.
	Command string

	// Timeout bounds one run of the command. Zero means 10 minutes; a negative
	// value means that only the context bounds it.
	Timeout time.Duration

	// Dir is the command's working directory. Empty means the process's own.
	Dir string

	// Store is handed to the command as DOCKET_HOME. Empty means that it finds
	// what the environment has.
	Store string

	// Attended says that somebody reads the terminal of the command, so that
	// [Adapter.Headless] reports false.
	Attended bool
}

// Adapter runs one command per prompt. It is safe for concurrent use; commands
// then run beside each other.
type Adapter struct{ options Options }

// New returns the adapter for one command, without running it.
func New(o Options) (*Adapter, error) {
	if o.Command == "" {
		return nil, errors.New("exec: no command: give one for sh -c")
	}
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	return &Adapter{o}, nil
}

// Headless reports true unless the options say that the command is attended.
func (a *Adapter) Headless() bool { return !a.options.Attended }

// environment returns what the command finds in its environment.
func (a *Adapter) environment(p adapter.Prompt) []string {
	env := append(os.Environ(),
		"DOCKET_SESSION="+p.Session,
		"DOCKET_MID="+p.MID,
		"DOCKET_FROM="+p.From)
	if a.options.Store != "" {
		env = append(env, "DOCKET_HOME="+a.options.Store)
	}
	return env
}
