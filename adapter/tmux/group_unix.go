//go:build unix

package tmux

import (
	"os/exec"
	"syscall"
)

// ownGroup lets cmd lead a process group and lets its end be the end of the
// whole group.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
