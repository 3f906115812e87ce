package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/docket-go/docket/cmd/docket-bench/internal/crew"
	"github.com/docket-go/docket/cmd/docket-bench/internal/machine"
	"github.com/docket-go/docket/cmd/docket-bench/internal/race"
	"github.com/docket-go/docket/lock"
)

// A cycle takes a lock and frees it.
type cycle func() error

// cycles are the ways to lock in a directory.
var cycles = map[string]func(dir string) (cycle, error){
	"flock": func(dir string) (cycle, error) {
		f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, err
		}
		return func() error {
			if err := machine.Lock(f); err != nil {
				return err
			}
			return machine.Unlock(f)
		}, nil
	},
	"docket": func(dir string) (cycle, error) {
		locks, err := lock.Open(dir, lock.Options{Wait: time.Minute})
		if err != nil {
			return nil, err
		}
		return func() error {
			held, err := locks.Record(context.Background())
			if err != nil {
				return err
			}
			return held.Release()
		}, nil
	},
}

func lockAlone() race.Workload {
	return race.Workload{
		Name: "lock", About: "take the record lock, which nobody else wants, and free it",
		Limit: "bare flock", Contestants: []race.Contestant{locker("bare flock", "flock"), locker("docket", "docket")},
		Targets: []race.Target{{Of: "docket", AtMost: 1.3, To: "bare flock"}},
	}
}

func locker(name, kind string) race.Contestant {
	return race.Contestant{Name: name, Open: func(_ context.Context, dir string) (*race.Runner, error) {
		once, err := cycles[kind](dir)
		if err == nil {
			err = once()
		}
		if errors.Is(err, errors.ErrUnsupported) {
			err = fmt.Errorf("%w: %w", race.ErrAbsent, err)
		}
		return &race.Runner{Round: func(n int) error { return repeat(n, once) }}, err
	}}
}

func lockProcesses(b *bench) race.Workload {
	return race.Workload{
		Name: "lock-processes", About: count(b.size.writers) + " processes take the record lock as often as they can; time a turn",
		Limit: "bare flock", Contestants: []race.Contestant{b.lockers("bare flock", "flock"), b.lockers("docket", "docket")},
		Targets: []race.Target{{Of: "docket", AtLeast: 0.8, To: "bare flock"}},
	}
}

func (b *bench) lockers(name, kind string) race.Contestant {
	return race.Contestant{Name: name, Open: func(ctx context.Context, dir string) (*race.Runner, error) {
		if _, err := cycles[kind](dir); errors.Is(err, errors.ErrUnsupported) {
			return nil, fmt.Errorf("%w: %w", race.ErrAbsent, err)
		}
		c, err := crew.Start(ctx, b.size.writers, "lock", kind, dir)
		if err != nil {
			return nil, err
		}
		return &race.Runner{
			Measure: func(n int) (float64, error) {
				begun := time.Now()
				_, err := c.Work(n)
				return float64(time.Since(begun)) / float64(c.Share(n)*c.Size()), err
			},
			Close: c.Close,
		}, nil
	}}
}

// lockRole is a child that locks.
func lockRole(args []string) (crew.Worker, error) {
	once, err := cycles[args[0]](args[1])
	return func(n int) (float64, error) { return 0, repeat(n, once) }, err
}

func lockWaiting(b *bench) race.Workload {
	return race.Workload{
		Name: "lock-waiting", About: count(b.size.waiting) + " goroutines of one process wait for the record lock, and all get it; its threads meanwhile",
		Unit: race.Threads, Rounds: 3,
		Contestants: []race.Contestant{b.crowd("docket", "waiting")},
		Targets:     []race.Target{{Of: "docket", AtMost: 20}},
	}
}

// crowd is one child that has so many goroutines.
func (b *bench) crowd(name, role string) race.Contestant {
	return race.Contestant{Name: name, Batch: b.size.waiting, Open: func(ctx context.Context, dir string) (*race.Runner, error) {
		if _, err := machine.Threads(); err != nil {
			return nil, fmt.Errorf("%w: %w", race.ErrAbsent, err)
		}
		return &race.Runner{Measure: func(n int) (float64, error) { return once(ctx, n, role, dir) }}, nil
	}}
}

// once has a new child do n operations.
func once(ctx context.Context, n int, role string, args ...string) (float64, error) {
	c, err := crew.Start(ctx, 1, role, args...)
	if err != nil {
		return 0, err
	}
	figures, err := c.Work(n)
	if err != nil {
		return 0, errors.Join(err, c.Close())
	}
	return figures[0], c.Close()
}

// waitingRole is a child with n goroutines that wait for a lock which another handle
// holds. It answers with its threads while all of them wait.
func waitingRole(args []string) (crew.Worker, error) {
	holder, err := lock.Open(args[0], lock.Options{})
	if err != nil {
		return nil, err
	}
	locks, err := lock.Open(args[0], lock.Options{Wait: time.Minute})
	if err != nil {
		return nil, err
	}
	return func(n int) (float64, error) {
		held, err := holder.Record(context.Background())
		if err != nil {
			return 0, err
		}
		var started, ended sync.WaitGroup
		var failed sync.Map
		started.Add(n)
		for i := range n {
			ended.Go(func() {
				started.Done()
				mine, err := locks.Record(context.Background())
				if err == nil {
					err = mine.Release()
				}
				if err != nil {
					failed.Store(i, err)
				}
			})
		}
		started.Wait()
		threads, err := mostThreads(300 * time.Millisecond)
		err = errors.Join(err, held.Release())
		ended.Wait()
		failed.Range(func(_, e any) bool { err = errors.Join(err, e.(error)); return false })
		return float64(threads), err
	}, nil
}

// mostThreads is the largest number of threads within a time.
func mostThreads(within time.Duration) (most int, err error) {
	for begun := time.Now(); time.Since(begun) < within; time.Sleep(time.Millisecond) {
		n, err := machine.Threads()
		if err != nil {
			return most, err
		}
		most = max(most, n)
	}
	return most, nil
}
