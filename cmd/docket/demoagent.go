package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Files in the directory of the demo's agent.
const (
	demoUp   = "up"          // while it is there, the agent is up
	demoDies = "dies"        // while it is there, the agent dies of a prompt
	demoLog  = "seen.ndjson" // what it got, one JSON text a line
)

// demoAnswer is what the demo's agent answers.
const demoAnswer = "two tests fail, both in the parser"

// demoAgentVerb is the agent of the demo, one process for each prompt, as the
// adapter exec wants it. It is no verb for people.
func demoAgentVerb() verb {
	return verb{
		name: "demo-agent", args: "DIR", min: 1, max: 1, hidden: true, run: runDemoAgent,
		short:   "be the agent of docket demo for one prompt on standard input",
		example: "echo hello | docket demo-agent DIR",
	}
}

func runDemoAgent(ctx context.Context, c *call) error {
	dir := c.args[0]
	if _, err := os.Stat(filepath.Join(dir, demoUp)); err != nil {
		return errors.New("the agent is down: start it")
	}
	prompt, err := io.ReadAll(c.stdin)
	if err != nil {
		return err
	}
	text, _, asked := strings.Cut(string(prompt), "\n\n[docket]")
	if err := demoNote(dir, text); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, demoDies)); err == nil {
		self, err := os.FindProcess(os.Getpid())
		return errors.Join(err, self.Kill())
	}
	if !asked || !bytes.Contains(prompt, []byte("docket ask --note")) {
		return nil
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	ask := exec.CommandContext(ctx, program, "--store", c.store.Dir(), "ask", "--note", demoAnswer)
	ask.Stderr = os.Stderr
	return ask.Run()
}

// demoNote remembers a prompt.
func demoNote(dir, text string) error {
	f, err := os.OpenFile(filepath.Join(dir, demoLog), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	line, err := encode(text)
	if err == nil {
		_, err = f.Write(append(line, '\n'))
	}
	return errors.Join(err, f.Close())
}

// demoSeen returns the prompts that the agent in dir got, in order.
func demoSeen(dir string) ([]string, error) {
	seen, err := os.ReadFile(filepath.Join(dir, demoLog))
	if err != nil {
		return nil, err
	}
	var texts []string
	for dec := json.NewDecoder(bytes.NewReader(seen)); dec.More(); {
		var text string
		if err := dec.Decode(&text); err != nil {
			return texts, fmt.Errorf("%s: %w", demoLog, err)
		}
		texts = append(texts, text)
	}
	return texts, nil
}
