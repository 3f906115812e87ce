package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/docket-go/docket/cmd/docket-bench/internal/crew"
	"github.com/docket-go/docket/cmd/docket-bench/internal/race"
	"github.com/docket-go/docket/timeline"
)

func follow() race.Workload {
	return race.Workload{
		Name: "follow", About: "from the append in one process until another one has the event",
		Limit: "write, raw inotify", Contestants: []race.Contestant{
			follower("write, raw inotify", "follow-raw", rawStamper), follower("docket", "follow-docket", docketStamper),
		},
		Targets: []race.Target{{Of: "docket", AtMost: 1.25, To: "write, raw inotify"}},
	}
}

// A stamper appends the present time to a log, as text.
type stamper func(now string) error

// docketStamper stamps a timeline.
func docketStamper(dir string) (stamper, func() error, error) {
	l, err := timeline.Open(dir, timeline.Options{Buffered: true})
	return func(now string) error {
		_, err := l.Append(context.Background(), timeline.Sent{MID: now, Text: now, NoDebt: true})
		return err
	}, l.Close, err
}

// follower has a child that follows a log, and waits for each event before the next
// one. The figure of a round is the median of its events.
func follower(name, role string, open func(dir string) (stamper, func() error, error)) race.Contestant {
	return race.Contestant{Name: name, Open: func(ctx context.Context, dir string) (*race.Runner, error) {
		stamp, closeIt, err := open(dir)
		if err != nil {
			return nil, err
		}
		if err := stamp(now()); err != nil {
			return nil, err
		}
		c, err := crew.Start(ctx, 1, role, dir)
		if err != nil {
			return nil, err
		}
		return &race.Runner{
			Measure: func(n int) (float64, error) {
				latencies := make([]float64, n)
				for i := range latencies {
					if err := c.Order(1); err != nil {
						return 0, err
					}
					if err := stamp(now()); err != nil {
						return 0, err
					}
					if latencies[i], err = c.Answer(); err != nil {
						return 0, err
					}
				}
				slices.Sort(latencies)
				return latencies[n/2], nil
			},
			Close: func() error { return closeAll(c.Close, closeIt) },
		}, nil
	}}
}

func now() string { return strconv.FormatInt(time.Now().UnixNano(), 10) }

// since is the age of a stamp.
func since(stamp string) (float64, error) {
	at, err := strconv.ParseInt(stamp, 10, 64)
	return float64(time.Now().UnixNano() - at), err
}

// A sighting is the age of an event when it was seen.
type sighting struct {
	age float64
	err error
}

// watched is the worker of a child that follows: it answers with the age of the next
// event.
func watched(seen <-chan sighting) crew.Worker {
	return func(int) (float64, error) {
		s := <-seen
		return s.age, s.err
	}
}

// followRole is a child that follows a timeline.
func followRole(args []string) (crew.Worker, error) {
	l, err := timeline.Open(args[0], timeline.Options{})
	if err != nil {
		return nil, err
	}
	seen, ready := make(chan sighting, 1), make(chan struct{})
	go func() {
		for u, err := range l.Follow(context.Background(), timeline.FollowOptions{Mode: timeline.TailOnly}) {
			switch {
			case err != nil:
				seen <- sighting{err: fmt.Errorf("follow: %w", err)}
			case u.CaughtUp:
				close(ready)
			default:
				age, err := since(u.Event.Text)
				seen <- sighting{age, err}
			}
		}
	}()
	<-ready
	return watched(seen), nil
}
