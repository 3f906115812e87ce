package dispatch

import (
	"errors"
	"slices"
	"syscall"
)

const (
	// maxIdleHandles bounds the sessions that a Dispatcher keeps open between uses.
	maxIdleHandles = 64

	// handleFiles is how many descriptors a session takes that was just used.
	handleFiles = 6
)

// idleHandles returns how many sessions are kept open where the process may have so
// many descriptors: they get a quarter, as everything else needs some too.
func idleHandles(descriptors uint64) int {
	return int(min(maxIdleHandles, max(1, descriptors/4/handleFiles)))
}

// scarce reports whether there was no descriptor left.
func scarce(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// leave gives back the files of those of the sessions that were closed, as nobody may
// ask for them again and their data stays on the disk as long; no ids mean all.
func (hs *handles) leave(ids ...string) {
	hs.giveBack(func(id string, h *handle) bool {
		return (len(ids) == 0 || slices.Contains(ids, id)) && h.Locks().Gone()
	})
}

// clear gives back the files of all sessions that nobody uses, and reports whether
// there were any.
func (hs *handles) clear() bool {
	return hs.giveBack(func(_ string, h *handle) bool { return h.users == 0 })
}

// giveBack forgets the handles that are chosen, and reports whether it freed some. What
// an adapter takes to close keeps nobody waiting.
func (hs *handles) giveBack(choose func(id string, h *handle) bool) bool {
	var idle []*handle
	hs.mu.Lock()
	for id, h := range hs.kept {
		if choose(id, h) && hs.forget(id) {
			idle = append(idle, h)
		}
	}
	hs.mu.Unlock()
	for _, h := range idle {
		h.free()
	}
	return len(idle) > 0
}
