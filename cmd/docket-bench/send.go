package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/docket-go/docket/cmd/docket-bench/internal/peer"
	"github.com/docket-go/docket/cmd/docket-bench/internal/race"
	"github.com/docket-go/docket/dispatch"
)

// leastSends is how many sends are in a round at least: one alone may be a bad
// moment of the disk.
const leastSends = 4

const lockAppend = "lock + append, both opened and closed"

func sendBuffered(b *bench) race.Workload {
	by := appenders{durability: peer.Buffered, goroutines: 1}
	depth := func(n int) string { return "docket, depth " + count(n) }
	deep := b.size.deep
	w := race.Workload{
		Name: "send-buffered", About: "send a message and hand one over, with so many others owed; survives the death of the process",
		Limit: lockAppend,
		Contestants: []race.Contestant{
			by.one(lockAppend, peer.RawFresh), by.one("lock + append, held open", peer.RawLocked),
			sendAndHandOver(depth(0), 0, true), sendAndHandOver(depth(100), 100, true), sendAndHandOver(depth(deep), deep, true),
			deskContestant("bbolt, NoSync, depth 100", peer.BoltDesk, peer.Buffered, 100, true),
			deskContestant("SQLite, WAL, OFF, depth 100", peer.SQLiteDesk, peer.Buffered, 100, true),
		},
		Targets: []race.Target{
			{Of: depth(0), AtMost: 9, To: lockAppend},
			{Of: depth(100), AtMost: 5, To: lockAppend},
			{Of: depth(deep), AtMost: 5, To: lockAppend},
			{Of: depth(deep), AtMost: 1.2, To: depth(100)},
		},
	}
	return w
}

func sendDurable() race.Workload {
	by := appenders{durability: peer.Synced, goroutines: 1}
	return race.Workload{
		Name: "send-durable", About: "accept a message on stable storage, and also hand it over, with nothing else owed",
		Limit: "write + data sync",
		Contestants: []race.Contestant{
			by.one("write + data sync", peer.Raw),
			acceptOnly("docket, accept"), sendAndHandOver("docket, accept + hand-over", 0, false),
			deskContestant("bbolt, accept", peer.BoltDesk, peer.Synced, 0, false),
			deskContestant("bbolt, accept + hand-over", peer.BoltDesk, peer.Synced, 0, true),
			deskContestant("SQLite, FULL, accept", peer.SQLiteDesk, peer.Synced, 0, false),
			deskContestant("SQLite, FULL, accept + hand-over", peer.SQLiteDesk, peer.Synced, 0, true),
		},
		Targets: []race.Target{
			{Of: "docket, accept", AtMost: 1.35, To: "write + data sync"},
			{Of: "docket, accept + hand-over", AtMost: 1.75, To: "write + data sync"},
		},
	}
}

// sendAndHandOver sends one message and hands the oldest one over.
func sendAndHandOver(name string, depth int, buffered bool) race.Contestant {
	return race.Contestant{Name: name, Least: leastSends, Open: func(ctx context.Context, dir string) (*race.Runner, error) {
		k, err := openDesk(ctx, dir, buffered)
		if err != nil {
			return nil, err
		}
		return &race.Runner{
			Round: func(n int) error { return repeat(n, func() error { return k.sendOne(ctx) }) },
			Check: func(n int) error { return k.check(ctx, depth+n, depth) },
			Close: k.d.Close,
		}, k.owe(ctx, depth)
	}}
}

// acceptOnly accepts messages durably. They are handed over between the rounds.
func acceptOnly(name string) race.Contestant {
	return race.Contestant{Name: name, Least: leastSends, Open: func(ctx context.Context, dir string) (*race.Runner, error) {
		k, err := openDesk(ctx, dir, false)
		if err != nil {
			return nil, err
		}
		return &race.Runner{
			Prepare: func(int) error { return k.drain(ctx) },
			Round:   func(n int) error { return k.owe(ctx, n) },
			Check: func(n int) error {
				if err := k.drain(ctx); err != nil {
					return err
				}
				return k.check(ctx, n, 0)
			},
			Close: k.d.Close,
		}, nil
	}}
}

func drain(b *bench) race.Workload {
	by := appenders{durability: peer.Buffered, goroutines: 1}
	return race.Workload{
		Name: "drain", About: "one pass hands over " + count(b.size.drained) + " owed messages to an agent that takes each at once; time a message",
		Limit: lockAppend, Rounds: 15,
		Contestants: []race.Contestant{
			by.one(lockAppend, peer.RawFresh), by.one("lock + append, held open", peer.RawLocked),
			b.drainOwed("docket"),
			b.drainDesk("bbolt, NoSync", peer.BoltDesk), b.drainDesk("SQLite, WAL, OFF", peer.SQLiteDesk),
		},
		Targets: []race.Target{
			{Of: "docket", AtMost: float64(60 * time.Microsecond)},
			{Of: "docket", AtMost: 60.0 / 19, To: lockAppend, Note: "60 µs where it is 19 µs"},
		},
	}
}

func (b *bench) drainOwed(name string) race.Contestant {
	return race.Contestant{Name: name, Batch: b.size.drained, Open: func(ctx context.Context, dir string) (*race.Runner, error) {
		k, err := openDesk(ctx, dir, true)
		if err != nil {
			return nil, err
		}
		return &race.Runner{
			Prepare: func(n int) error { return k.owe(ctx, n) },
			Round:   func(int) error { return k.drain(ctx) },
			Check:   func(n int) error { return k.check(ctx, n, 0) },
			Close:   k.d.Close,
		}, nil
	}}
}

func sendKeyed(b *bench) race.Workload {
	const unkeyed = "docket, without a key"
	return race.Workload{
		Name: "send-keyed", About: "accept a message with a new key in a log of " + count(b.size.large) + " events; survives the death of the process",
		Limit:       unkeyed,
		Contestants: []race.Contestant{b.sendInto(unkeyed, false), b.sendInto("docket, new key", true)},
		Targets: []race.Target{
			{Of: "docket, new key", AtMost: 1.5, To: unkeyed, Note: "with an index of keys"},
			{Of: "docket, new key", AtMost: float64(5 * time.Millisecond)},
		},
	}
}

// sendInto accepts messages in a session whose log is large.
func (b *bench) sendInto(name string, withKey bool) race.Contestant {
	return race.Contestant{Name: name, Least: leastSends, Open: func(ctx context.Context, dir string) (*race.Runner, error) {
		k, err := openDesk(ctx, dir, true)
		if err != nil {
			return nil, err
		}
		key := 0
		return &race.Runner{
			Prepare: func(int) error { return k.drain(ctx) },
			Round: func(n int) error {
				return repeat(n, func() error {
					m := dispatch.Message{NoDrain: true, From: "lead"}
					if withKey {
						key++
						m.Key = "bench-" + strconv.Itoa(key)
					}
					return k.send(ctx, m)
				})
			},
			Check: func(n int) error {
				if err := k.drain(ctx); err != nil {
					return err
				}
				return k.check(ctx, n, 0)
			},
			Close: k.d.Close,
		}, b.clone(b.size.large, k.sessionDir())
	}}
}

// deskContestant does with a database what docket does: accept a message, claim the
// oldest, settle it.
func deskContestant(name string, open peer.DeskOpener, d peer.Durability, depth int, handOver bool) race.Contestant {
	return race.Contestant{Name: name, Least: leastSends, Open: func(ctx context.Context, dir string) (*race.Runner, error) {
		k, err := open(dir, d)
		if err != nil {
			return nil, err
		}
		next := uint64(0)
		accept := func() error {
			next++
			return k.Accept(next - 1)
		}
		return &race.Runner{
			Round: func(n int) error {
				return repeat(n, func() error {
					if err := accept(); err != nil || !handOver {
						return err
					}
					return k.HandOver()
				})
			},
			Check: func(n int) error {
				owed := depth + n
				if handOver {
					owed = depth
				}
				return checkDesk(k, owed)
			},
			Close: k.Close,
		}, repeat(depth, accept)
	}}
}

func (b *bench) drainDesk(name string, open peer.DeskOpener) race.Contestant {
	return race.Contestant{Name: name, Batch: b.size.drained, Open: func(ctx context.Context, dir string) (*race.Runner, error) {
		k, err := open(dir, peer.Buffered)
		if err != nil {
			return nil, err
		}
		next := uint64(0)
		return &race.Runner{
			Prepare: func(n int) error {
				return repeat(n, func() error { next++; return k.Accept(next - 1) })
			},
			Round: func(n int) error { return repeat(n, k.HandOver) },
			Check: func(int) error { return checkDesk(k, 0) },
			Close: k.Close,
		}, nil
	}}
}

func checkDesk(k peer.Desk, owed int) error {
	got, err := k.Owed()
	if err == nil && got != owed {
		err = fmt.Errorf("%d messages are owed, and %d were to be", got, owed)
	}
	return err
}

// repeat does something n times.
func repeat(n int, one func() error) error {
	for range n {
		if err := one(); err != nil {
			return err
		}
	}
	return nil
}
