package main

import (
	"context"
	"fmt"

	"github.com/docket-go/docket/cmd/docket-bench/internal/peer"
	"github.com/docket-go/docket/cmd/docket-bench/internal/race"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/segment"
)

const tailed = 500

// tailBlock is how much the backward scan reads at once.
const tailBlock = 64 << 10

func tail(b *bench) race.Workload {
	lengths := []int{b.size.small, b.size.large}
	if b.size.huge > 0 {
		lengths = append(lengths, b.size.huge)
	}
	longest := lengths[len(lengths)-1]
	scan := func(n int) string { return "backward scan, " + count(n) }
	decoded := func(n int) string { return "docket, decoded, " + count(n) }
	again := func(n int) string { return "docket, into the page of before, " + count(n) }
	lazy := func(n int) string { return "docket, lazy, " + count(n) }
	w := race.Workload{
		Name: "tail", About: fmt.Sprintf("read the last %d events, from logs of several lengths", tailed),
		Limit: scan(b.size.small),
	}
	for _, n := range lengths {
		w.Contestants = append(w.Contestants, b.scanBack(scan(n), n),
			b.tailDecoded(decoded(n), n), b.tailAgain(again(n), n), b.tailLazy(lazy(n), n))
		w.Targets = append(w.Targets,
			race.Target{Of: decoded(n), AtMost: 2.2, To: scan(n)}, race.Target{Of: again(n), AtMost: 2.2, To: scan(n)},
			race.Target{Of: lazy(n), AtMost: 1.2, To: scan(n)})
	}
	w.Targets = append(w.Targets, race.Target{Of: decoded(longest), AtMost: 1.35, To: decoded(b.size.small)})
	w.Contestants = append(w.Contestants,
		b.tailPeer("bbolt, undecoded", peer.Bolt), b.tailPeer("SQLite, undecoded", peer.SQLite))
	return w
}

// tailContestant reads one log, whose length read must return.
func tailContestant(name string, want int, open func(ctx context.Context, dir string) (read func() (int, error), closeIt func() error, err error)) race.Contestant {
	return race.Contestant{Name: name, Open: func(ctx context.Context, dir string) (*race.Runner, error) {
		read, closeIt, err := open(ctx, dir)
		return &race.Runner{
			Round: func(n int) error {
				return repeat(n, func() error {
					got, err := read()
					if err == nil && got != want {
						err = fmt.Errorf("%d were read, and there are %d", got, want)
					}
					return err
				})
			},
			Close: closeIt,
		}, err
	}}
}

// scanBack finds the newlines of those lines, private ones among them, that hold the
// last events.
func (b *bench) scanBack(name string, n int) race.Contestant {
	lines := 0
	for i := n - tailed; i < n; i++ {
		lines += len(events(i, n))
	}
	return tailContestant(name, lines, func(context.Context, string) (func() (int, error), func() error, error) {
		dir, err := b.log(n)
		if err != nil {
			return nil, nil, err
		}
		paths, err := segmentPaths(dir)
		block := make([]byte, tailBlock)
		return func() (got int, err error) {
			for i := len(paths) - 1; i >= 0 && got < lines && err == nil; i-- {
				var found int
				found, err = peer.CountLinesBack(paths[i], block, lines-got)
				got += found
			}
			return got, err
		}, nil, err
	})
}

func (b *bench) tailDecoded(name string, n int) race.Contestant {
	return tailContestant(name, tailed, func(ctx context.Context, _ string) (func() (int, error), func() error, error) {
		l, _, err := b.openLog(ctx, n)
		if err != nil {
			return nil, nil, err
		}
		return func() (int, error) {
			page, err := l.Tail(ctx, tailed)
			return len(page.Events), err
		}, l.Close, nil
	})
}

// tailAgain decodes every event each time, and has the memory of the time before.
func (b *bench) tailAgain(name string, n int) race.Contestant {
	return tailContestant(name, tailed, func(ctx context.Context, _ string) (func() (int, error), func() error, error) {
		l, _, err := b.openLog(ctx, n)
		if err != nil {
			return nil, nil, err
		}
		var page timeline.Page
		return func() (int, error) {
			err := l.TailInto(ctx, &page, tailed)
			return len(page.Events), err
		}, l.Close, nil
	})
}

// tailLazy takes the lines as they are and decodes none.
func (b *bench) tailLazy(name string, n int) race.Contestant {
	return tailContestant(name, tailed, func(ctx context.Context, _ string) (func() (int, error), func() error, error) {
		dir, err := b.log(n)
		if err != nil {
			return nil, nil, err
		}
		l, err := plain(dir)
		if err != nil {
			return nil, nil, err
		}
		return func() (got int, err error) {
			v, err := l.View(ctx)
			if err != nil {
				return 0, err
			}
			for line, err := range v.Backward(ctx) {
				if err != nil {
					return got, err
				}
				if line.Class == segment.Public {
					got++
				}
				if got == tailed {
					break
				}
			}
			return got, nil
		}, l.Close, nil
	})
}

// tailPeer reads the last messages of a database with as many messages as the short
// log has events. Its cost hardly depends on that.
func (b *bench) tailPeer(name string, open peer.Opener) race.Contestant {
	return tailContestant(name, tailed, func(_ context.Context, dir string) (func() (int, error), func() error, error) {
		l, err := open(dir, peer.Buffered)
		if err != nil {
			return nil, nil, err
		}
		messages := l.(interface {
			Fill(n int) error
			Tail(n int) ([][]byte, error)
		})
		return func() (int, error) {
			lines, err := messages.Tail(tailed)
			return len(lines), err
		}, l.Close, messages.Fill(b.size.small)
	})
}
