package lock

import (
	"sync"

	"golang.org/x/sync/semaphore"
)

// unknownBoot stands where the platform does not say which boot is running.
const unknownBoot = "unknown"

// A gate lets one goroutine of this process at a time contend for a lock file, in
// the order of arrival, whichever handle it uses. It is why waiting goroutines
// cost no threads and no polling.
type gate struct {
	*semaphore.Weighted
	users int // handles that are open, and goroutines that wait
}

var (
	gatesMu sync.Mutex
	gates   = map[string]*gate{}
)

func enterGate(path string) *gate {
	gatesMu.Lock()
	defer gatesMu.Unlock()
	g := gates[path]
	if g == nil {
		g = &gate{Weighted: semaphore.NewWeighted(1)}
		gates[path] = g
	}
	g.users++
	return g
}

// useGate is enterGate for one who has the gate already.
func useGate(g *gate) {
	gatesMu.Lock()
	defer gatesMu.Unlock()
	g.users++
}

func leaveGate(path string, g *gate) {
	gatesMu.Lock()
	defer gatesMu.Unlock()
	if g.users--; g.users == 0 {
		delete(gates, path)
	}
}
