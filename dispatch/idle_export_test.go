package dispatch

import (
	"maps"
	"slices"
)

// IdleHandles is how many sessions are kept open where there are so many descriptors.
func IdleHandles(descriptors uint64) int { return idleHandles(descriptors) }

// Kept returns the ids of the sessions that are kept open.
func Kept(d *Dispatcher) []string {
	d.handles.mu.Lock()
	defer d.handles.mu.Unlock()
	return slices.Sorted(maps.Keys(d.handles.kept))
}
