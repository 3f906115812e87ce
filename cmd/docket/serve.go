package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/docket-go/docket/dispatch"
)

func serveVerb() verb {
	return verb{
		name: "serve", run: runServe,
		short:   "retry what is owed to every session of the store, until interrupted",
		more:    "The first SIGINT or SIGTERM ends it as soon as the agents have what is being\nhanded over, and the second at once, which leaves that unconfirmed.",
		example: "docket serve --interval 10s",
		flags: []cli.Flag{
			&cli.DurationFlag{Name: "interval", Value: dispatch.DefaultSweepInterval, Usage: "how often every session is looked at, beside what the system notifies of"},
			&cli.DurationFlag{Name: "grace", Value: dispatch.DefaultSweepGrace, Usage: "how long what is being handed over when it ends may take; negative means as long as it takes"},
			&cli.StringFlag{Name: "listen", Usage: "the `ADDRESS` of the read surface; it is not built in yet"},
		},
	}
}

func runServe(ctx context.Context, c *call) error {
	if c.flags.IsSet("listen") {
		return &usageError{c.verb, "--listen: the read surface is not built in yet: leave the flag out to run the sweeper alone"}
	}
	interval := c.flags.Duration("interval")
	if interval <= 0 {
		return &usageError{c.verb, "--interval must be longer than nothing: give a time such as 10s"}
	}
	grace := c.flags.Duration("grace")
	if grace == 0 {
		grace = time.Nanosecond
	}
	logger := slog.New(c.logHandler())
	defer context.AfterFunc(ctx, func() {
		logger.Info("stopping: what is being handed over is waited for: interrupt again to stop at once, which leaves it unconfirmed")
	})()
	logger.Info("sweeping", "store", c.store.Dir(), "interval", interval.Round(time.Millisecond).String())
	d := dispatch.New(c.store, dispatch.Options{Adapters: kinds}) // the sweeper itself waits for its inserts
	err := dispatch.NewSweeper(d, dispatch.SweepOptions{
		Interval: interval, Grace: grace, Hurry: c.hard.Done(), Logger: logger,
	}).Run(ctx)
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		err = nil // that is how it ends
	}
	return errors.Join(err, d.Close())
}

// logHandler writes log lines to standard error, for people or as JSON.
func (c *call) logHandler() slog.Handler {
	level := &slog.HandlerOptions{}
	if c.flags.Bool("verbose") {
		level.Level = slog.LevelDebug
	}
	if c.out.json {
		return slog.NewJSONHandler(spelling{c.report.w, inJSON}, level)
	}
	return slog.NewTextHandler(spelling{c.report.w, inWords}, level)
}

// A spelling writes text without what would act on a terminal, or hide.
type spelling struct {
	w    io.Writer
	with func(r rune, raw []byte) string
}

func (s spelling) Write(line []byte) (int, error) {
	if _, err := s.w.Write(spell(line, s.with)); err != nil {
		return 0, err
	}
	return len(line), nil
}
