//go:build !unix

package host

import "os/exec"

// ownGroup does nothing: there are no process groups here.
func ownGroup(*exec.Cmd) {}

// signalGroup kills the command alone.
func signalGroup(cmd *exec.Cmd, _ bool) { _ = cmd.Process.Kill() }

// signalPid does nothing: no process was noted.
func signalPid(int, bool) {}

// groupAlive knows of no group.
func groupAlive(*exec.Cmd) bool { return false }
