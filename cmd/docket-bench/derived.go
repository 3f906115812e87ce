package main

import (
	"context"
	"fmt"
	"time"

	"github.com/docket-go/docket/cmd/docket-bench/internal/prose"
	"github.com/docket-go/docket/cmd/docket-bench/internal/race"
	"github.com/docket-go/docket/timeline"
)

func derived(b *bench) race.Workload {
	const (
		recent, old = "docket, last human, near the end", "docket, last human, in the first half"
		hit, miss   = "docket, receipt by key, hit", "docket, receipt by key, miss"
		settle      = "docket, settle"
	)
	return race.Workload{
		Name: "derived", About: "answers and notes that must not depend on the length of the log, of " + count(b.size.large) + " events",
		Contestants: []race.Contestant{
			b.ask(recent, func(ctx context.Context, l *timeline.Log) (question, error) {
				_, err := l.Append(ctx, prose.Sent(1), timeline.Status{Status: "active"})
				return lastHuman, err
			}),
			b.ask(old, func(context.Context, *timeline.Log) (question, error) { return lastHuman, nil }),
			b.ask(hit, func(context.Context, *timeline.Log) (question, error) { return b.receipts(true), nil }),
			b.ask(miss, func(context.Context, *timeline.Log) (question, error) { return b.receipts(false), nil }),
			b.ask(settle, func(context.Context, *timeline.Log) (question, error) { return b.settle(), nil }),
		},
		Targets: []race.Target{
			{Of: recent, AtMost: float64(500 * time.Microsecond)},
			{Of: old, AtMost: float64(500 * time.Microsecond)},
			{Of: hit, AtMost: float64(5 * time.Millisecond)},
			{Of: miss, AtMost: float64(5 * time.Millisecond)},
			{Of: settle, AtMost: float64(50 * time.Microsecond)},
		},
	}
}

// A question is asked of a log, and fails on a wrong answer.
type question func(ctx context.Context, l *timeline.Log) error

// ask asks a log of its own again and again.
func (b *bench) ask(name string, prepare func(context.Context, *timeline.Log) (question, error)) race.Contestant {
	return race.Contestant{Name: name, Open: func(ctx context.Context, dir string) (*race.Runner, error) {
		l, err := b.openClone(b.size.large, dir, timeline.Options{Buffered: true})
		if err != nil {
			return nil, err
		}
		q, err := prepare(ctx, l)
		return &race.Runner{
			Round: func(n int) error { return repeat(n, func() error { return q(ctx, l) }) },
			Close: l.Close,
		}, err
	}}
}

func lastHuman(ctx context.Context, l *timeline.Log) error {
	h, ok, err := l.LastHuman(ctx)
	if err == nil && (!ok || h.Via != timeline.Terminal) {
		err = fmt.Errorf("no human was found")
	}
	return err
}

// receipts asks for the receipts of keys from all over the log, or of keys that
// never were.
func (b *bench) receipts(known bool) question {
	asked := uint64(0)
	large := uint64(b.size.large)
	return func(ctx context.Context, l *timeline.Log) error {
		asked++
		n := asked * 7_919 * keyedIn % large
		n += keyedIn - n%keyedIn + 1
		if n >= large {
			n = 1
		}
		if !known {
			n += large * 2
		}
		found, ok, err := l.Receipt(ctx, operation, keyDigest(n))
		if err != nil {
			return err
		}
		if ok != known || known && (found.Sent.MID != prose.MID(n) || !found.Settled) {
			return fmt.Errorf("the receipt of message %d: found %t", n, ok)
		}
		return nil
	}
}

func (b *bench) settle() question {
	n := uint64(b.size.large)
	return func(ctx context.Context, l *timeline.Log) error {
		n++
		_, err := l.Append(ctx, timeline.Settled{MID: prose.MID(n)})
		return err
	}
}
