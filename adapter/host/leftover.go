package host

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/docket-go/docket/adapter/procgroup"
	"github.com/docket-go/docket/adapter/smallfile"
)

// A leftover is the process group of an agent, as a later broker finds it.
type leftover struct {
	PID   int    `json:"pid"`   // of the leader, and the group's number
	Start string `json:"start"` // when that process started; a number alone may be another's by then
}

// note writes down the agent's process group.
func (b *Broker) note(p *Process) error {
	start := startOf(p.Pid())
	if start == "" {
		return nil // it ended already, or cannot be told apart from a later one here
	}
	data, err := json.Marshal(leftover{p.Pid(), start})
	if err == nil {
		err = smallfile.Swap(filepath.Join(b.dir, agentFile), data)
	}
	if err != nil {
		return fmt.Errorf("host: note the agent's process group: %w", err)
	}
	return nil
}

func (b *Broker) forget() { _ = os.Remove(filepath.Join(b.dir, agentFile)) }

// endLeftover ends the agent of a broker that died, if it is still at work. The
// caller holds the host lock. A group whose leader has exited is left alone: its
// number proves nothing.
func endLeftover(dir string, grace time.Duration) {
	data, err := smallfile.Read(filepath.Join(dir, agentFile))
	var l leftover
	if err != nil || json.Unmarshal(data, &l) != nil || l.PID <= 1 || l.Start == "" {
		return
	}
	defer os.Remove(filepath.Join(dir, agentFile))
	same := func() bool { return startOf(l.PID) == l.Start }
	if !same() {
		return
	}
	leader, err := os.FindProcess(l.PID)
	if err != nil {
		return
	}
	_ = procgroup.Ask(leader)
	if !waitUntil(grace, func() bool { return !same() }) {
		_ = procgroup.Kill(leader)
		waitUntil(grace, func() bool { return !same() })
	}
}

// waitUntil polls until done says so, and reports whether it did in time.
func waitUntil(bound time.Duration, done func() bool) bool {
	end := time.NewTimer(max(bound, 0))
	defer end.Stop()
	tick := time.NewTicker(pollGroup)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-end.C:
			return done()
		}
	}
	return true
}
