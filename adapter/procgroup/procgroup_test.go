//go:build unix

package procgroup_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter/procgroup"
)

// start runs a shell script with a child, and returns the command and the child's pid.
func start(t testing.TB, ctx context.Context, script string) (*exec.Cmd, int) {
	t.Helper()
	cmd := exec.CommandContext(ctx, "sh", "-c", script)
	procgroup.Own(cmd)
	cmd.Cancel = func() error { return procgroup.Cancel(cmd) }
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = procgroup.Kill(cmd.Process); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	child, bad := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || bad != nil {
		t.Fatalf("got %q, %v, want the child's pid", line, err)
	}
	return cmd, child
}

// gone waits until nothing of the group is left.
func gone(t *testing.T, cmd *exec.Cmd, child int) {
	t.Helper()
	end, tick := time.NewTimer(time.Minute), time.NewTicker(time.Millisecond)
	defer end.Stop()
	defer tick.Stop()
	for procgroup.Alive(cmd.Process) {
		select {
		case <-tick.C:
		case <-end.C:
			t.Fatal("got something of the group alive, want nothing")
		}
	}
	if err := syscall.Kill(child, 0); err == nil {
		t.Error("got the child alive, want it ended with its group")
	}
	if err := procgroup.Kill(cmd.Process); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("got %v of a group without a member, want os.ErrProcessDone", err)
	}
}

func TestTheWholeGroupEnds(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(cmd *exec.Cmd) error{
		"killed": func(cmd *exec.Cmd) error { return procgroup.Kill(cmd.Process) },
		"asked":  func(cmd *exec.Cmd) error { return procgroup.Ask(cmd.Process) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd, child := start(t, t.Context(), "sleep 1000 & echo $!; wait")
			if !procgroup.Alive(cmd.Process) || syscall.Getpgrp() == cmd.Process.Pid {
				t.Error("got no group of its own alive, want one")
			}
			if err := end(cmd); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			gone(t, cmd, child)
		})
	}
}

// TestGroupThatOutlivesItsLeader is ended although that was waited for.
func TestGroupThatOutlivesItsLeader(t *testing.T) {
	t.Parallel()
	cmd, child := start(t, t.Context(), "sleep 1000 >/dev/null 2>&1 & echo $!")
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if err := procgroup.Cancel(cmd); !errors.Is(err, os.ErrProcessDone) || !procgroup.Alive(cmd.Process) {
		t.Errorf("Cancel: got %v, want that it leaves alone what was waited for", err)
	}
	if err := procgroup.Kill(cmd.Process); err != nil {
		t.Fatal(err)
	}
	gone(t, cmd, child)
}

func TestCancel(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cmd, child := start(t, ctx, "sleep 1000 & echo $!; wait")
	cancel()
	if err := cmd.Wait(); !errors.Is(err, context.Canceled) && err == nil {
		t.Errorf("got %v, want it killed", err)
	}
	gone(t, cmd, child)
}
