package main

import (
	"context"
	"embed"
	"fmt"
	"slices"
)

// shells are those that completion knows.
var shells = []string{"bash", "zsh", "fish"}

// Each asks docket complete, so that it need not be made anew when docket is.
//
//go:embed completions
var completions embed.FS

func completionVerb() verb {
	return verb{
		name: "completion", args: "bash|zsh|fish", min: 1, max: 1, run: runCompletion,
		brief: true,
		short: "print what makes a shell complete verbs, flags, sessions and messages",
		more: "Where to say it:\n" +
			"   eval \"$(docket completion bash)\"      in ~/.bashrc\n" +
			"   source <(docket completion zsh)       in ~/.zshrc, behind compinit\n" +
			"   docket completion fish | source       in ~/.config/fish/config.fish",
		example: "docket completion bash >>~/.bash_completion",
	}
}

// completionScript is the answer of completion in JSON.
type completionScript struct {
	Shell string `json:"shell"`
	Text  string `json:"text"`
}

func runCompletion(_ context.Context, c *call) error {
	shell := c.args[0]
	if !slices.Contains(shells, shell) {
		return &usageError{c.verb, fmt.Sprintf("%q is no shell that is known: give %s", clip(shell), alternatives(shells))}
	}
	script, err := completions.ReadFile("completions/docket." + shell)
	if err != nil {
		return err
	}
	if c.out.json {
		return c.out.object(completionScript{shell, string(script)})
	}
	c.out.people("%s", script)
	return nil
}
