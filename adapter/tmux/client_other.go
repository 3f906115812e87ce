//go:build !linux

package tmux

import "context"

// seeBrackets knows nothing on this platform: a server without a format for it
// (before tmux 3.6) is not asked in another way.
func (server) seeBrackets(context.Context, snapshot) truth { return unknown }
