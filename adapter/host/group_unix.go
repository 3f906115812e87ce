//go:build unix

package host

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the command the leader of a process group of its own.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// signalGroup ends every process of a started command's group.
func signalGroup(cmd *exec.Cmd, force bool) { signalPid(cmd.Process.Pid, force) }

// signalPid ends every process of the group that pid leads.
func signalPid(pid int, force bool) {
	signal := syscall.SIGTERM
	if force {
		signal = syscall.SIGKILL
	}
	_ = syscall.Kill(-pid, signal) // ESRCH: nothing is left
}

// groupAlive reports whether the group has a member.
func groupAlive(cmd *exec.Cmd) bool { return syscall.Kill(-cmd.Process.Pid, 0) == nil }
