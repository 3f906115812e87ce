//go:build linux || darwin

package turns_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/host"
)

// One process after another dies somewhere in its work, while messages keep coming. In the
// end each of them is at the agent once, and the log is whole.
func TestOneAfterAnotherDies(t *testing.T) {
	for _, victim := range []string{"record", "host"} {
		t.Run(victim, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			judge := filepath.Join(w.root, "judge")
			start := func(role string, dieAt int) *process {
				return run(t, job{Role: role, Root: w.root, Judge: judge, DieAt: dieAt})
			}
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			random := rand.New(rand.NewPCG(seed, 0))
			others := map[string]string{"record": "host", "host": "record"}
			survivor := start(others[victim], 0)
			sent := 0
			for range 12 {
				p := start(victim, 1+random.IntN(70))
				eventually(t, func() bool {
					if !p.over() && sent < 400 {
						w.send(fmt.Sprint("message ", sent))
						sent++
					}
					return p.over() || sent == 400
				}, func() string { return "got a process that does not die, want it dead" })
				if !p.killed() {
					p.stop(t)
				}
			}
			last := start(victim, 0)
			held := settle(t, w, judge)
			if held && victim != "host" {
				t.Error("got a message in doubt, want its fate known while the host lives")
			}
			eventually(t, func() bool { s, _ := host.NewClient(w.dir).Probe(t.Context()); return s == adapter.Idle },
				func() string { return "got a busy host to the end, want it idle" })
			for _, p := range []*process{last, survivor} {
				p.stop(t)
			}
			check(t, w, judge, victim)
			t.Logf("%d messages, held: %v", sent, held)
		})
	}
}
