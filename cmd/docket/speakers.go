package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/docket-go/docket/adapter/acp"
	"github.com/docket-go/docket/adapter/codex"
	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/adapter/oneshot"
)

// A speaker makes what starts a program that speaks one protocol, once it is clear that
// there is such a program.
type speaker func(c *call, p host.ProcessOptions) (host.Starter, error)

// speakers are the adapters whose sessions have a host, with what their agents speak.
var speakers = sync.OnceValue(func() map[string]speaker {
	return map[string]speaker{
		acp.Kind.Name: lasting(func(p host.ProcessOptions) host.Starter { return acp.Starter(p, acp.Options{}) }),
		codex.Kind.Name: lasting(func(p host.ProcessOptions) host.Starter {
			return codex.Starter(p, codex.Options{})
		}),
		oneshot.Kind.Name: preset,
	}
})

// lasting is about a program that runs for as long as the host.
func lasting(start func(p host.ProcessOptions) host.Starter) speaker {
	return func(c *call, p host.ProcessOptions) (host.Starter, error) {
		if c.flags.IsSet("as") {
			return nil, &usageError{c.verb, "--as goes with sessions whose adapter is " + oneshot.Kind.Name}
		}
		return start(p), isProgram(p.Args[0], p.Dir)
	}
}

// preset is about a program that runs once for each prompt.
func preset(c *call, p host.ProcessOptions) (host.Starter, error) {
	as, err := oneshot.Find(c.flags.String("as"))
	if err != nil {
		return nil, &usageError{c.verb, "with the adapter " + oneshot.Kind.Name + " it needs --as and one of " + presetNames()}
	}
	command := as.Command
	if len(p.Args) > 0 {
		command = p.Args
	}
	return oneshot.Starter(as, p, oneshot.Options{}), isProgram(command[0], p.Dir)
}

func presetNames() string {
	var names []string
	for _, p := range oneshot.Presets() {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}

// isProgram looks for a program as it will be started, so that a slip is told at once.
func isProgram(name, dir string) error {
	if strings.ContainsRune(name, filepath.Separator) && !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	_, err := exec.LookPath(name)
	return err
}
