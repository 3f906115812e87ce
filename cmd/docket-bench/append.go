package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/docket-go/docket/cmd/docket-bench/internal/crew"
	"github.com/docket-go/docket/cmd/docket-bench/internal/peer"
	"github.com/docket-go/docket/cmd/docket-bench/internal/race"
)

func appendDurable() race.Workload {
	by := appenders{durability: peer.Synced, goroutines: 1}
	return race.Workload{
		Name: "append-durable", About: "one writer appends a message, which is on stable storage before the next one",
		Limit: "write + data sync",
		Contestants: []race.Contestant{
			by.one("write + data sync", peer.Raw),
			by.one("docket, held handle", peer.Docket), by.one("docket, fresh handle", peer.DocketFresh),
			by.one("bbolt", peer.Bolt), by.one("SQLite, WAL, FULL", peer.SQLite),
			by.one("tidwall/wal", peer.WAL), by.one("JetStream, sync always", peer.JetStream),
		},
		Targets: []race.Target{
			{Of: "docket, held handle", AtMost: 1.10, To: "write + data sync"},
			{Of: "docket, fresh handle", AtMost: 1.15, To: "write + data sync"},
		},
	}
}

func appendGoroutines(b *bench) race.Workload {
	by := appenders{durability: peer.Synced, goroutines: b.size.together}
	return race.Workload{
		Name: "append-goroutines", About: count(b.size.together) + " goroutines append to one log; each waits for stable storage; time a message",
		Limit: "leader group commit", Rounds: 21,
		Contestants: []race.Contestant{
			by.one("leader group commit", peer.RawGroup), by.one("docket", peer.Docket),
			by.one("bbolt, Batch", peer.BoltBatch), by.one("SQLite, WAL, FULL", peer.SQLite),
			by.one("tidwall/wal", peer.WAL), by.one("JetStream, sync always", peer.JetStream),
		},
		Targets: []race.Target{
			{Of: "docket", AtLeast: 0.80, To: "leader group commit"},
			{Of: "docket", AtLeast: 15, To: "tidwall/wal"},
		},
	}
}

func appendBuffered() race.Workload {
	by := appenders{durability: peer.Buffered, goroutines: 1}
	return race.Workload{
		Name: "append-buffered", About: "one writer appends a message that survives the death of the process",
		Limit: "write",
		Contestants: []race.Contestant{
			by.one("write", peer.Raw), by.one("lock + write", peer.RawLocked), by.one("lock + write, both opened and closed", peer.RawFresh),
			by.one("docket, held handle", peer.Docket), by.one("docket, held handle and lock", peer.DocketLocked),
			by.one("docket, fresh handle", peer.DocketFresh),
			by.one("bbolt, NoSync", peer.Bolt), by.one("SQLite, WAL, OFF", peer.SQLite),
			by.one("tidwall/wal, NoSync", peer.WAL), by.one("JetStream, no sync", peer.JetStream),
		},
		Targets: []race.Target{
			{Of: "docket, held handle", AtMost: 3.5, To: "write"},
			{Of: "docket, fresh handle", AtMost: 5.5, To: "write"},
		},
	}
}

// appenders make contestants of logs.
type appenders struct {
	durability peer.Durability
	goroutines int
}

func (a appenders) one(name string, open peer.Opener) race.Contestant {
	return race.Contestant{Name: name, Least: 4 * a.goroutines, Open: func(ctx context.Context, dir string) (*race.Runner, error) {
		l, err := open(dir, a.durability)
		if err != nil {
			return nil, err
		}
		var next atomic.Uint64
		return &race.Runner{
			Round: func(n int) error { return together(a.goroutines, n, func() error { return l.Append(next.Add(1) - 1) }) },
			Check: func(n int) error { return counted(l, n) },
			Close: l.Close,
		}, nil
	}}
}

// together has goroutines do n operations among them.
func together(goroutines, n int, one func() error) error {
	if goroutines == 1 {
		for range n {
			if err := one(); err != nil {
				return err
			}
		}
		return nil
	}
	var all errgroup.Group
	left := atomic.Int64{}
	left.Store(int64(n))
	for range goroutines {
		all.Go(func() error {
			for left.Add(-1) >= 0 {
				if err := one(); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return all.Wait()
}

// counted is the proof of an appender.
func counted(l peer.Log, want int) error {
	got, err := l.Count()
	if err == nil && got != want {
		err = fmt.Errorf("the log has %d messages, and %d were appended", got, want)
	}
	return err
}

// processLogs are the logs that several processes can append to at once.
var processLogs = map[string]peer.Opener{"raw": peer.RawLocked, "docket": peer.Docket, "sqlite": peer.SQLite}

func appendProcesses(b *bench) race.Workload {
	return race.Workload{
		Name: "append-processes", About: count(b.size.writers) + " processes append to one log; each waits for stable storage; time a message",
		Limit: "sync after unlock",
		Contestants: []race.Contestant{
			b.processes("sync after unlock", "raw"), b.processes("docket", "docket"), b.processes("SQLite, WAL, FULL", "sqlite"),
		},
		Targets: []race.Target{{Of: "docket", AtLeast: 0.90, To: "sync after unlock"}},
	}
}

func (b *bench) processes(name, log string) race.Contestant {
	return race.Contestant{Name: name, Least: 8 * b.size.writers, Open: func(ctx context.Context, dir string) (*race.Runner, error) {
		l, err := processLogs[log](dir, peer.Synced)
		if err != nil {
			return nil, err
		}
		if err := l.Append(0); err != nil {
			return nil, err
		}
		c, err := crew.Start(ctx, b.size.writers, "append", log, dir)
		if err != nil {
			return nil, err
		}
		done := 1
		return &race.Runner{
			Measure: func(n int) (float64, error) {
				begun := time.Now()
				_, err := c.Work(n)
				really := c.Share(n) * c.Size()
				done += really
				return float64(time.Since(begun)) / float64(really), err
			},
			Check: func(int) error { return counted(l, done) },
			Close: func() error { return closeAll(c.Close, l.Close) },
		}, nil
	}}
}

// appendRole is a child that appends durably to the log of that kind in a directory.
func appendRole(args []string) (crew.Worker, error) {
	l, err := processLogs[args[0]](args[1], peer.Synced)
	if err != nil {
		return nil, err
	}
	return func(n int) (float64, error) {
		for i := range n {
			if err := l.Append(uint64(i)); err != nil {
				return 0, err
			}
		}
		return 0, nil
	}, nil
}
