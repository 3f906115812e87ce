//go:build unix

package realagent

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the command the leader of a process group of its own.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills what is in the group of a started command. The group may outlive
// its leader, so it is tried even after that was waited for.
func killGroup(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// endGroup asks it to end.
func endGroup(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
