package exec

import (
	"context"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"strings"
	"sync/atomic"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/procgroup"
)

const (
	busyStatus = 75                     // EX_TEMPFAIL of sysexits.h
	leftOpen   = 500 * time.Millisecond // how long the command's pipes may outlive it
)

// Insert runs the command with p.Text on its standard input and waits for its
// exit.
//
// Nil promises that it exited with status 0. An error that is
// [adapter.ErrRefused] means that it was not started, or exited with another
// status: [adapter.ErrBusy] for 75. An error that is [adapter.ErrUnconfirmed]
// means that it was started and its status is not known: ctx ended, the timeout
// passed, or a signal killed it. In the first two cases its whole process group
// is dead when Insert returns.
//
// It may be called by any number of goroutines. If the process dies inside, the
// command runs on.
func (a *Adapter) Insert(ctx context.Context, p adapter.Prompt) error {
	if err := ctx.Err(); err != nil {
		return adapter.Refuse(fmt.Errorf("exec: not started: %w", err))
	}
	if a.options.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, a.options.Timeout, timeoutError(a.options.Timeout))
		defer cancel()
	}
	r := &run{ctx: ctx}
	cmd := osexec.CommandContext(ctx, "sh", "-c", a.options.Command)
	cmd.Dir = a.options.Dir
	cmd.Env = a.environment(p)
	cmd.Stdin = strings.NewReader(p.Text)
	cmd.Stderr = &r.stderr
	cmd.WaitDelay = leftOpen
	procgroup.Own(cmd)
	cmd.Cancel = func() error {
		r.killed.Store(true)
		return procgroup.Cancel(cmd)
	}
	if err := cmd.Start(); err != nil {
		return adapter.Refuse(fmt.Errorf("exec: not started: %w", err))
	}
	err := cmd.Wait()
	return r.answer(cmd.ProcessState, err)
}

// run is what is learned about one run of the command beside its status.
type run struct {
	ctx    context.Context
	killed atomic.Bool // its group was killed by us
	stderr tail
}

// answer judges a command that was started. The error of the wait matters only
// if there is no status: it may as well be about a pipe that something in the
// background held open.
func (r *run) answer(state *os.ProcessState, wait error) error {
	switch {
	case state == nil:
		return adapter.Unconfirm(fmt.Errorf("exec: no exit status: %w", wait))
	case state.Success():
		return nil
	case r.killed.Load():
		return adapter.Unconfirm(r.explain(fmt.Errorf("killed: %w", context.Cause(r.ctx))))
	case !state.Exited():
		return adapter.Unconfirm(r.explain(errors.New(state.String())))
	case state.ExitCode() == busyStatus:
		return adapter.Because(adapter.ErrBusy, r.explain(errors.New("busy, exit status 75")))
	}
	return adapter.Refuse(r.explain(errors.New(state.String())))
}

// explain adds the end of the standard error to what happened.
func (r *run) explain(what error) error {
	if said := r.stderr.String(); said != "" {
		return fmt.Errorf("exec: %w: %s", what, said)
	}
	return fmt.Errorf("exec: %w", what)
}

// timeoutError is the cause of a run that took too long.
type timeoutError time.Duration

func (e timeoutError) Error() string {
	return fmt.Sprintf("still running after %s: see whether it has the prompt, or set a longer timeout", time.Duration(e))
}

func (e timeoutError) Unwrap() error { return context.DeadlineExceeded }
