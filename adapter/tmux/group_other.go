//go:build !unix

package tmux

import "os/exec"

// ownGroup does nothing where there is no tmux: cmd is ended alone.
func ownGroup(*exec.Cmd) {}
