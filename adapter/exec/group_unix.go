//go:build unix

package exec

import (
	"errors"
	"os"
	osexec "os/exec"
	"syscall"
)

// ownGroup makes the command the leader of a process group of its own.
func ownGroup(cmd *osexec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// killGroup kills a started command with everything that it started in its group.
// A command that was waited for already is left alone, as its number may belong
// to another group by now.
func killGroup(cmd *osexec.Cmd) error {
	if err := cmd.Process.Signal(syscall.Signal(0)); err != nil {
		return err
	}
	err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}
