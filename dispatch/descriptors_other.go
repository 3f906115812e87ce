//go:build !unix

package dispatch

import "math"

// descriptors returns how many descriptors the process may have: no such bound is known
// here.
func descriptors() uint64 { return math.MaxUint64 }
