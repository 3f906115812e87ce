//go:build !unix

package realagent

import "os/exec"

// ownGroup does nothing: there are no process groups here.
func ownGroup(*exec.Cmd) {}

// killGroup kills the command alone.
func killGroup(cmd *exec.Cmd) error { return cmd.Process.Kill() }

// endGroup kills the command, which cannot be asked here.
func endGroup(cmd *exec.Cmd) error { return cmd.Process.Kill() }
