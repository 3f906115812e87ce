package main

import (
	"context"
	"os"
	"path/filepath"
	"strconv"

	"github.com/docket-go/docket/cmd/docket-bench/internal/machine"
	"github.com/docket-go/docket/cmd/docket-bench/internal/race"
)

// A bench is one run. What takes long to make is made once, and shared.
type bench struct {
	ctx    context.Context
	dir    string
	size   size
	docket string // the program; empty until it is built

	logs    map[int]string // session directories, by the number of events in their logs
	watched string         // the directory of the sessions that are watched; empty until it is made
}

// workloads are all of them, in the order in which they are run.
func workloads(b *bench) []race.Workload {
	return []race.Workload{
		appendDurable(), appendGoroutines(b), appendProcesses(b), appendBuffered(),
		sendBuffered(b), sendDurable(), drain(b), sendKeyed(b),
		tail(b), readAll(b), readMemory(b), derived(b),
		follow(), fleetSetup(b), fleetIdle(b),
		processSend(b), processLog(b),
		sealTime(b), sealRatio(b), sealIndex(b), sealOne(b),
		lockAlone(), lockProcesses(b), lockWaiting(b),
	}
}

// run races one workload in a directory that is gone afterwards.
func (b *bench) run(w race.Workload) (race.Result, error) {
	dir := filepath.Join(b.dir, w.Name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return race.Result{}, err
	}
	defer os.RemoveAll(dir)
	return w.Run(b.ctx, race.Options{
		Dir: dir, Rounds: b.size.rounds, Round: b.size.round, Settle: machine.Settle,
	})
}

// count writes a number of events for people.
func count(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
