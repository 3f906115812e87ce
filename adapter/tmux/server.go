package tmux

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/docket-go/docket/adapter/procgroup"
)

// ErrNoProgram means that tmux cannot be run on this machine: it is not
// installed, or there is none for this platform. Nothing was typed.
var ErrNoProgram = errors.New("tmux: no program tmux in PATH: install it")

// ErrNoAnswer means that a tmux command did not end within its bound.
var ErrNoAnswer = errors.New("tmux: the tmux server does not answer")

// waitAfterKill bounds how long a killed tmux client may keep its pipes open.
const waitAfterKill = 500 * time.Millisecond

// A server runs commands on one tmux server. It never starts that server.
type server struct {
	socket string        // a name (-L) or, with a slash in it, a path (-S); empty: tmux's own default
	bound  time.Duration // of one command
}

// A failure is a tmux command that did not do its work.
type failure struct {
	started bool   // the command may have reached the server
	said    string // what tmux wrote to standard error
	err     error
}

func (f *failure) Error() string {
	if f.said == "" {
		return f.err.Error()
	}
	return fmt.Sprintf("%v: %s", f.err, f.said)
}

func (f *failure) Unwrap() error { return f.err }

// run executes one tmux client with args, feeds it input, and returns what it
// printed, also together with an error. Every error is a [*failure].
func (s server) run(ctx context.Context, input string, args ...string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", &failure{err: err}
	}
	bounded, cancel := context.WithTimeout(ctx, s.bound)
	defer cancel()
	var out, said bytes.Buffer
	cmd := s.command(bounded, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &out, &said
	if err := cmd.Start(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			err = ErrNoProgram
		}
		return "", &failure{err: err}
	}
	err := cmd.Wait()
	switch {
	case err == nil:
		return out.String(), nil
	case ctx.Err() != nil:
		err = ctx.Err()
	case bounded.Err() != nil:
		err = fmt.Errorf("%w within %v", ErrNoAnswer, s.bound)
	}
	return out.String(), &failure{started: true, said: firstLine(said.String()), err: err}
}

// command prepares a tmux client in a process group of its own that ends with
// ctx. It speaks UTF-8 whatever the locale of this process is.
func (s server) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "tmux", append(append([]string{"-u"}, s.flags()...), args...)...)
	procgroup.Own(cmd)
	cmd.Cancel = func() error { return procgroup.Cancel(cmd) }
	cmd.WaitDelay = waitAfterKill
	return cmd
}

func (s server) flags() []string {
	switch {
	case s.socket == "":
		return nil
	case strings.Contains(s.socket, "/"):
		return []string{"-S", s.socket}
	}
	return []string{"-L", s.socket}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
