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
	"github.com/docket-go/docket/timeline/fleet"
	"github.com/docket-go/docket/timeline/session"
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

// makeFleet makes a store of sessions with one event each. All have the same log, since
// making a log syncs it.
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
	for _, segments := range fleetDirs(dir, sessions) {
		if err == nil {
			err = os.MkdirAll(segments, 0o700)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(segments, filepath.Base(paths[0])), text, 0o600)
		}
	}
	return errors.Join(err, l.Close())
}

// fleetDirs are the directories with the segments of all sessions.
func fleetDirs(dir string, sessions int) []string {
	dirs := make([]string, sessions)
	for i := range dirs {
		dirs[i] = timeline.SegmentsDir(filepath.Join(dir, "sessions", fleetSession(i)))
	}
	return dirs
}

func fleetSession(i int) string { return "s" + strconv.Itoa(i) }

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
		f, err := followFleet(args[0])
		took := time.Since(begun)
		if err != nil {
			return 0, err
		}
		return float64(took), f.hear(n / 2)
	}, nil
}

// fleetIdleRole is a child that follows all sessions, and answers with the part of a
// core that this takes while nothing happens.
func fleetIdleRole(args []string) (crew.Worker, error) {
	idle, err := time.ParseDuration(args[1])
	return func(n int) (float64, error) {
		f, err := followFleet(args[0])
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
		return 100 * float64(after-before) / float64(idle), f.hear(n / 2)
	}, err
}

// A fleetFollower follows all sessions of a store.
type fleetFollower struct {
	store *session.Store
	heard chan fleet.Update
	ended chan error
}

// followFleet follows the store in dir, and returns when all sessions are caught up.
func followFleet(dir string) (*fleetFollower, error) {
	store, err := session.OpenStore(dir, session.Options{Timeline: timeline.Options{Buffered: true}})
	if err != nil {
		return nil, err
	}
	f := &fleetFollower{store: store, heard: make(chan fleet.Update), ended: make(chan error, 1)}
	updates := fleet.Follow(context.Background(), store, fleet.Options{Mode: fleet.TailOnly})
	go func() {
		for u, err := range updates {
			if err != nil {
				f.ended <- err
				return
			}
			f.heard <- u
		}
	}()
	if u, err := f.next(); err != nil || !u.CaughtUp {
		return nil, fmt.Errorf("got %v %v, want the mark", u, err)
	}
	return f, nil
}

func (f *fleetFollower) next() (fleet.Update, error) {
	select {
	case u := <-f.heard:
		return u, nil
	case err := <-f.ended:
		return fleet.Update{}, err
	case <-time.After(time.Minute):
		return fleet.Update{}, errors.New("an event was not heard of")
	}
}

// hear appends to one session and waits until that is heard.
func (f *fleetFollower) hear(i int) error {
	s, err := f.store.Open(fleetSession(i))
	if err != nil {
		return err
	}
	sent := prose.Sent(uint64(time.Now().UnixNano()))
	if _, err := s.Timeline().Append(context.Background(), sent); err != nil {
		return errors.Join(err, s.Release())
	}
	u, err := f.next()
	if err == nil && (u.Event.MID != sent.MID || u.Session != s.ID()) {
		err = fmt.Errorf("heard of %s in %s, and %s was appended to %s", u.Event.MID, u.Session, sent.MID, s.ID())
	}
	return errors.Join(err, s.Release())
}
