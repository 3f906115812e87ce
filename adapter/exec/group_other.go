//go:build !unix

package exec

import osexec "os/exec"

// ownGroup does nothing: there are no process groups here.
func ownGroup(*osexec.Cmd) {}

// killGroup kills the command alone.
func killGroup(cmd *osexec.Cmd) error { return cmd.Process.Kill() }
