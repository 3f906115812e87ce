package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func demoVerb() verb {
	return verb{
		name: "demo", run: runDemo,
		short:   "tell the whole story in a temporary store, with a real process as the agent",
		example: "docket demo",
	}
}

// demoSession is the session of the demo.
const demoSession = "agent-1"

// A demo runs docket's own verbs one after the other and explains them. The first
// thing that is not as it should be ends it.
type demo struct {
	ctx   context.Context
	call  *call
	dir   string // of the agent: see [runDemoAgent]
	store string
	agent string // its command line
	err   error
}

// shownAgent stands for the command line of the agent, which is long.
const shownAgent = "exec docket demo-agent ..."

func runDemo(ctx context.Context, c *call) (err error) {
	top, err := os.MkdirTemp("", "docket-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(top)) }()
	program, err := os.Executable()
	if err != nil {
		return err
	}
	d := &demo{ctx: ctx, call: c, dir: filepath.Join(top, "agent"), store: filepath.Join(top, "store")}
	if err := os.Mkdir(d.dir, 0o700); err != nil {
		return err
	}
	d.agent = strings.Join([]string{"exec", shellQuote(program), "--store", shellQuote(d.store), "demo-agent", shellQuote(d.dir)}, " ")
	d.accept()
	d.deliver()
	d.replay()
	d.decide()
	d.reply()
	d.tell("That was the whole life of six messages. The temporary store is removed now.")
	return d.err
}

// accept makes the session and sends while the agent is down.
func (d *demo) accept() {
	d.tell("A session is one agent's directory. The adapter exec runs a command for each\n" +
		"message: here this program itself, which plays the agent (the dots are paths in\n" +
		"a temporary directory). It is down.")
	d.docket(statusDone, "new", demoSession, "--adapter", "exec", "--set", "headless=false", "--set", "cmd="+d.agent)
	d.tell("What is said now is accepted all the same: recorded, and owed. A send prints the\nid of its message, and on standard error why it is still owed.")
	d.docket(statusDone, "send", demoSession, "read the issue")
	d.tell("A send may also leave the delivery to somebody else from the start.")
	d.docket(statusDone, "send", demoSession, "fix the parser", "--no-drain")
	d.docket(statusDone, "send", demoSession, "run the tests", "--no-drain")
	d.tell("This is what the session is owed, in order. Nothing overtakes the first.")
	d.docket(statusDone, "pending", demoSession)
}

// deliver starts the agent and makes a pass.
func (d *demo) deliver() {
	d.tell("Now the agent comes up. One pass delivers everything in order. `docket serve`\nwould have done it by itself.")
	d.keep(os.WriteFile(filepath.Join(d.dir, demoUp), nil, 0o600))
	d.docket(statusDone, "drain", demoSession)
	d.tell("The agent has noted what it got:")
	d.expect("read the issue", "fix the parser", "run the tests")
}

// replay sends one keyed message twice.
func (d *demo) replay() {
	d.tell("A send with a key can be repeated, as after a lost answer: the second is the\nsame message again, and the agent gets it once.")
	first := d.docket(statusDone, "send", demoSession, "--key", "deploy-42", "deploy build 42")
	again := d.docket(statusDone, "send", demoSession, "--key", "deploy-42", "deploy build 42")
	if first != again {
		d.keep(fmt.Errorf("the replay got the id %q in place of %q", again, first))
	}
	d.expect("read the issue", "fix the parser", "run the tests", "deploy build 42")
}

// decide lets the agent die of a message, and settles what became of that.
func (d *demo) decide() {
	d.tell("Sometimes nobody can tell whether a message arrived. Here the agent dies while it\ntakes one. That message is not repeated, and holds what would be behind it.")
	dies := filepath.Join(d.dir, demoDies)
	d.keep(os.WriteFile(dies, nil, 0o600))
	mid := strings.TrimSpace(d.docket(statusDone, "send", demoSession, "tag the release"))
	d.tell("So somebody looks, and decides. The agent had noted it before it died:")
	d.expect("read the issue", "fix the parser", "run the tests", "deploy build 42", "tag the release")
	d.docket(statusDone, "confirm", demoSession, mid)
	d.keep(os.Remove(dies))
}

// reply asks for an answer by note, which the agent gives with docket ask.
func (d *demo) reply() {
	d.tell("Whoever does not see the agent's terminal asks for the answer by note. The agent\nis told so behind the text, and answers by running `docket ask --note` itself.")
	d.docket(statusDone, "send", demoSession, "--reply-via", "note", "which tests fail?")
	d.tell("The answer is in the timeline, with everything else that was said and declared:")
	if said := d.docket(statusDone, "log", demoSession); !strings.Contains(said, demoAnswer) {
		d.keep(errors.New("the timeline does not hold the agent's answer"))
	}
	d.tell("And what is stored is sound.")
	d.docket(statusDone, "verify", demoSession)
}

// tell explains what comes next.
func (d *demo) tell(text string) {
	if d.err == nil {
		d.call.out.people("%s\n\n", text)
		d.keep(d.call.out.flush())
	}
}

// docket runs one verb, shows it with what it printed, and returns its standard
// output.
func (d *demo) docket(want int, args ...string) string {
	if d.err != nil {
		return ""
	}
	var out, complaint bytes.Buffer
	argv := append([]string{"--store", d.store}, args...)
	status := run(d.ctx, d.call.hard, argv, strings.NewReader(""), &out, &complaint)
	shown := make([]string, len(args))
	for i, arg := range args {
		shown[i] = shellQuote(strings.ReplaceAll(arg, d.agent, shownAgent))
	}
	d.call.out.people("  $ docket %s\n", strings.Join(shown, " "))
	if printed := strings.TrimRight(out.String()+complaint.String(), "\n"); printed != "" {
		d.call.out.people("%s\n", indent(printed, "  "))
	}
	d.call.out.people("\n")
	if status != want {
		d.keep(fmt.Errorf("docket %s: exit status %d: %s", args[0], status, complaint.String()))
	}
	d.keep(d.call.out.flush())
	return out.String()
}

// expect shows what the agent got, which must be these texts.
func (d *demo) expect(texts ...string) {
	if d.err != nil {
		return
	}
	got, err := demoSeen(d.dir)
	d.keep(err)
	for _, text := range got {
		d.call.out.people("  agent: %s\n", text)
	}
	d.call.out.people("\n")
	if !slices.Equal(got, texts) {
		d.keep(fmt.Errorf("the agent got %q, want %q", got, texts))
	}
}

func (d *demo) keep(err error) {
	if d.err == nil {
		d.err = err
	}
}

// shellQuote returns arg as one word for sh.
func shellQuote(arg string) string {
	if arg != "" && strings.Trim(arg, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=") == "" {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}
