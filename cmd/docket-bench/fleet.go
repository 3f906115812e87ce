package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/docket-go/docket/cmd/docket-bench/internal/crew"
	"github.com/docket-go/docket/cmd/docket-bench/internal/machine"
	"github.com/docket-go/docket/cmd/docket-bench/internal/prose"
	"github.com/docket-go/docket/cmd/docket-bench/internal/race"
	"github.com/docket-go/docket/timeline"
)

func fleetSetup(b *bench) race.Workload {
	return race.Workload{
		Name: "fleet-setup", About: "begin to follow " + count(b.size.sessions) + " sessions in one process",
		Limit: "raw inotify watches", Rounds: 3,
		Contestants: []race.Contestant{b.fleet("raw inotify watches", "fleet-raw"), b.fleet("docket", "fleet-docket")},
		Targets:     []race.Target{{Of: "docket", AtMost: float64(100 * time.Millisecond)}},
	}
}

func fleetIdle(b *bench) race.Workload {
	return race.Workload{
		Name: "fleet-idle", About: "follow " + count(b.size.sessions) + " sessions in which nothing happens; part of one core",
		Unit: race.Percent, Rounds: 1,
		Contestants: []race.Contestant{b.fleet("docket", "fleet-idle", b.size.idle.String())},
		Targets:     []race.Target{{Of: "docket", AtMost: 0.2}},
	}
}

// fleet is a new child in each round that watches many sessions.
func (b *bench) fleet(name, role string, args ...string) race.Contestant {
	return race.Contestant{Name: name, Batch: 1, Open: func(ctx context.Context, _ string) (*race.Runner, error) {
		if runtime.GOOS != "linux" {
			return nil, fmt.Errorf("%w: no inotify", race.ErrAbsent)
		}
		dir, err := b.fleetDir()
		return &race.Runner{Measure: func(int) (float64, error) {
			return once(ctx, b.size.sessions, role, append([]string{dir}, args...)...)
		}}, err
	}}
}

// fleetDir returns the directory with the sessions that are watched.
func (b *bench) fleetDir() (string, error) {
	if b.watched != "" {
		return b.watched, nil
	}
	dir := filepath.Join(b.dir, "fleet")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	b.watched = dir
	return dir, makeFleet(dir, b.size.sessions)
}

// makeFleet makes sessions with one event each. All have the same log, since making
// a log syncs it.
func makeFleet(dir string, sessions int) error {
	model := filepath.Join(dir, "model")
	if err := os.Mkdir(model, 0o700); err != nil {
		return err
	}
	l, err := timeline.Open(model, timeline.Options{Buffered: true})
	if err != nil {
		return err
	}
	if _, err := l.Append(context.Background(), prose.Sent(0)); err != nil {
		return err
	}
	paths, err := segmentPaths(model)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	text, err := os.ReadFile(paths[0])
	for _, session := range fleetDirs(dir, sessions) {
		if err == nil {
			err = os.MkdirAll(filepath.Join(session, segments), 0o700)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(session, segments, filepath.Base(paths[0])), text, 0o600)
		}
	}
	return errors.Join(err, l.Close())
}

func fleetDirs(dir string, sessions int) []string {
	dirs := make([]string, sessions)
	for i := range dirs {
		dirs[i] = filepath.Join(dir, "s"+strconv.Itoa(i))
	}
	return dirs
}

// fleetRawRole is a child that only asks the system to watch.
func fleetRawRole(args []string) (crew.Worker, error) {
	return func(n int) (float64, error) {
		dirs := fleetDirs(args[0], n)
		begun := time.Now()
		err := watchRaw(dirs)
		return float64(time.Since(begun)), err
	}, nil
}

// fleetRole is a child that follows all sessions, and answers with the time until
// all of them were caught up. Then it proves that it hears of an event in any.
func fleetRole(args []string) (crew.Worker, error) {
	return func(n int) (float64, error) {
		begun := time.Now()
		heard, err := followFleet(fleetDirs(args[0], n))
		took := time.Since(begun)
		if err != nil {
			return 0, err
		}
		return float64(took), hear(filepath.Join(args[0], "s"+strconv.Itoa(n/2)), heard)
	}, nil
}

// fleetIdleRole is a child that follows all sessions, and answers with the part of a
// core that this takes while nothing happens.
func fleetIdleRole(args []string) (crew.Worker, error) {
	idle, err := time.ParseDuration(args[1])
	return func(n int) (float64, error) {
		heard, err := followFleet(fleetDirs(args[0], n))
		if err != nil {
			return 0, err
		}
		runtime.GC()
		before, err := machine.Spent()
		if err != nil {
			return 0, err
		}
		time.Sleep(idle)
		after, err := machine.Spent()
		if err != nil {
			return 0, err
		}
		return 100 * float64(after-before) / float64(idle), hear(filepath.Join(args[0], "s"+strconv.Itoa(n/2)), heard)
	}, err
}

// followFleet follows the logs of all directories, and returns when all are caught
// up.
func followFleet(dirs []string) (<-chan timeline.Event, error) {
	heard, caught := make(chan timeline.Event, 1), make(chan error, len(dirs))
	for _, dir := range dirs {
		l, err := timeline.Open(dir, timeline.Options{})
		if err != nil {
			return nil, err
		}
		go func() {
			for u, err := range l.Follow(context.Background(), timeline.FollowOptions{Mode: timeline.TailOnly}) {
				switch {
				case err != nil:
					caught <- err
					return
				case u.CaughtUp:
					caught <- nil
				default:
					heard <- u.Event
				}
			}
		}()
	}
	for range dirs {
		if err := <-caught; err != nil {
			return nil, err
		}
	}
	return heard, nil
}

// hear appends to one session and waits until that is heard.
func hear(dir string, heard <-chan timeline.Event) error {
	l, err := timeline.Open(dir, timeline.Options{Buffered: true})
	if err != nil {
		return err
	}
	sent := prose.Sent(uint64(time.Now().UnixNano()))
	if _, err := l.Append(context.Background(), sent); err != nil {
		return errors.Join(err, l.Close())
	}
	select {
	case e := <-heard:
		if e.MID != sent.MID {
			err = fmt.Errorf("heard of %s, and %s was appended", e.MID, sent.MID)
		}
	case <-time.After(10 * time.Second):
		err = errors.New("an event was not heard of")
	}
	return errors.Join(err, l.Close())
}
