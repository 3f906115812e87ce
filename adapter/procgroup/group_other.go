//go:build !unix

package procgroup

import (
	"os"
	"os/exec"
)

// Own does nothing: there are no process groups here.
func Own(*exec.Cmd) {}

// Kill kills the process alone.
func Kill(p *os.Process) error { return p.Kill() }

// Ask kills the process, which cannot be asked here.
func Ask(p *os.Process) error { return p.Kill() }

// Alive knows of no group.
func Alive(*os.Process) bool { return false }

// Cancel kills the command alone.
func Cancel(cmd *exec.Cmd) error { return cmd.Process.Kill() }
