//go:build unix

package procgroup

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// Own makes the command, which is not started yet, the leader of a process group.
func Own(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// Kill kills every process of the group that p leads. The group may outlive its leader:
// the call is of use even after p was waited for, as long as the group is known to have a
// member, whose number it is until then. [os.ErrProcessDone] means that it has none.
func Kill(p *os.Process) error { return signal(p, syscall.SIGKILL) }

// Ask asks every process of the group to end, as [Kill] does not.
func Ask(p *os.Process) error { return signal(p, syscall.SIGTERM) }

// Alive reports whether the group has a member.
func Alive(p *os.Process) bool { return signal(p, 0) == nil }

// Cancel kills the group of a started command, for [exec.Cmd.Cancel]. A command that was
// waited for already is left alone, as its number may belong to another group by now.
func Cancel(cmd *exec.Cmd) error {
	if err := cmd.Process.Signal(syscall.Signal(0)); err != nil {
		return err
	}
	return Kill(cmd.Process)
}

func signal(p *os.Process, s syscall.Signal) error {
	err := syscall.Kill(-p.Pid, s)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}
