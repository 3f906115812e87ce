package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/docket-go/docket/adapter/acp"
	"github.com/docket-go/docket/adapter/codex"
	"github.com/docket-go/docket/adapter/exec"
	"github.com/docket-go/docket/adapter/oneshot"
	"github.com/docket-go/docket/adapter/opencode"
	"github.com/docket-go/docket/adapter/tmux"
	"github.com/docket-go/docket/dispatch/doctor"
)

func doctorVerb() verb {
	return verb{
		name: "doctor", run: runDoctor,
		short: "look the store and this machine over, and say what is wrong and what to do",
		more: "It changes nothing. Each finding is ok, a note or a problem, with the command to run\n" +
			"beneath it. It looks at the store and its file system, at every session with what it\n" +
			"is owed, its host and its locks, and at the programs that adapters need. It does not\n" +
			"read the logs: docket verify --all reads everything that is stored.\n" +
			"The exit status is 0 if nothing is wrong, 1 if there are problems, and 5 if something\n" +
			"that is stored cannot be read.",
		example: "docket doctor\ndocket doctor --json | grep '\"problem\"'",
	}
}

// diagnosis is a finding in JSON.
type diagnosis struct {
	Check   string       `json:"check"`
	Level   doctor.Level `json:"level"`
	Session *string      `json:"session"`
	MID     *string      `json:"mid"`
	Text    string       `json:"text"`
	Do      *string      `json:"do"`
	Corrupt bool         `json:"corrupt"`
}

var errProblems = errors.New("problems found")

func runDoctor(ctx context.Context, c *call) error {
	total := 0
	for _, err := range c.store.IDs(ctx) {
		if err != nil {
			break // the examination says so
		}
		total++
	}
	p := newProgress(c.report.w, c.verb, total)
	defer p.end()
	problems, corrupt := 0, false
	for f := range doctor.Examine(ctx, c.examination(p)) {
		if f.Level == doctor.Problem {
			problems++
		}
		corrupt = corrupt || f.Corrupt
		if err := c.printFinding(f); err != nil {
			return err
		}
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case problems == 0:
		return nil
	}
	is := errProblems
	if corrupt {
		is = errFaults
	}
	return &advised{count(problems, "problem") + " found, as listed on standard output, each with what to do", is}
}

func (c *call) examination(p *progress) doctor.Options {
	o := doctor.Options{
		Store: c.store, Version: version(), Own: c.env("DOCKET_SESSION"), Kinds: kinds(), Programs: programs(),
		Progress: p.at,
	}
	for name := range speakers() {
		o.Hosted = append(o.Hosted, name)
	}
	return o
}

// programs are those that the adapters need on this machine. Behind a host of the
// adapters acp, codex and oneshot there may be any that speaks like these.
func programs() []doctor.Program {
	all := []doctor.Program{
		{Name: "sh", For: []string{exec.Kind.Name}, Needed: true},
		{Name: "tmux", Version: []string{"-V"}, For: []string{tmux.Kind.Name}, Needed: true},
	}
	also := map[string][]string{
		"codex":    {codex.Kind.Name},
		"opencode": {opencode.Kind.Name, acp.Kind.Name},
		"gemini":   {acp.Kind.Name},
	}
	for _, p := range oneshot.Presets() {
		name := p.Command[0]
		all = append(all, doctor.Program{
			Name: name, Version: []string{"--version"}, For: append(also[name], oneshot.Kind.Name+" --as "+p.Name),
		})
	}
	return all
}

func (c *call) printFinding(f doctor.Finding) error {
	if c.out.json {
		return c.out.object(diagnosis{f.Check, f.Level, orNull(f.Session), orNull(f.MID), f.Text, orNull(f.Do), f.Corrupt})
	}
	subject := f.Session
	if f.MID != "" {
		subject += ": message " + f.MID
	}
	if subject != "" {
		subject += ": "
	}
	c.out.people("%s\n", oneLine(fmt.Sprintf("%-8s %-12s %s", f.Level, f.Check, subject+f.Text)))
	if f.Do != "" {
		c.out.people("%22s%s\n", "", oneLine(f.Do))
	}
	return nil
}
