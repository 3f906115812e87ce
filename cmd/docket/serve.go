package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/dispatch/watching"
)

func serveVerb() verb {
	return verb{
		name: "serve", run: runServe,
		short: "retry what is owed to every session of the store, until interrupted, and show the store over HTTP",
		more: "With --listen it prints its address, and shows the store there to browsers and\n" +
			"programs; /api/openapi.json describes how, and /metrics counts for Prometheus.\n" +
			"Without, it opens no port.\n" +
			"Who can reach the address can read all of the store, and send as its owner. So it\n" +
			"must be one of this machine alone (127.0.0.1, ::1, localhost), unless --token-file\n" +
			"says what every request has to bear. On a machine that others use, give one too:\n" +
			"(umask 077; openssl rand -hex 32 > token). Nothing is encrypted: put a TLS proxy\n" +
			"in front of it, or a tunnel, where others can listen.\n\n" +
			"The first SIGINT or SIGTERM ends it as soon as the agents have what is being\n" +
			"handed over, and the second at once, which leaves that unconfirmed.",
		example: "docket serve --interval 10s\n" +
			"docket serve --listen 127.0.0.1:8080\n" +
			"docket serve --listen :8080 --token-file token --host my-machine.lan",
		flags: append([]verbFlag{
			{name: "interval", takes: aTime, initial: dispatch.DefaultSweepInterval.String(), usage: "how often every session is looked at, beside what the system notifies of"},
			{name: "grace", takes: aTime, initial: dispatch.DefaultSweepGrace.String(), usage: "how long what is being handed over when it ends may take; negative means as long as it takes"},
		}, surfaceFlags()...),
	}
}

func runServe(ctx context.Context, c *call) error {
	interval := c.flags.Duration("interval")
	if interval <= 0 {
		return &usageError{c.verb, "--interval must be longer than nothing: give a time such as 10s"}
	}
	grace := c.flags.Duration("grace")
	if grace == 0 {
		grace = time.Nanosecond
	}
	s, err := c.listen(ctx)
	if err != nil {
		return err
	}
	logger := slog.New(c.logHandler())
	if !c.hasStore() {
		logger.Warn("there is no store yet: docket new makes it; or see --store and DOCKET_HOME", "store", c.store.Dir())
	}
	logger.Info("sweeping", "store", c.store.Dir(), "interval", interval.Round(time.Millisecond).String())
	d := dispatch.New(c.store, dispatch.Options{
		Adapters: kinds(), // the sweeper itself waits for its inserts
		Counters: &dispatch.Counters{}, Logger: logger,
	})
	var sweeper *dispatch.Sweeper
	sweeper = dispatch.NewSweeper(d, dispatch.SweepOptions{
		Interval: interval, Grace: grace, Hurry: c.hard.Done(), Logger: logger,
		Tend: tending(watching.New(c.store, d, watching.Options{}), logger, func(id string) { sweeper.Nudge(id) }),
	})
	defer tellStop(ctx, sweeper, logger)()
	work, inner := errgroup.WithContext(ctx)
	work.Go(func() error { return sweeper.Run(inner) })
	if s != nil {
		work.Go(func() error { return s.serve(inner, d, sweeper, logger) })
	}
	err = work.Wait()
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		err = nil // that is how it ends
	}
	return errors.Join(err, d.Close())
}

// tellStop logs the end of ctx, and what is waited for then. The returned function ends
// that.
func tellStop(ctx context.Context, s *dispatch.Sweeper, logger *slog.Logger) (end func()) {
	told := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(told)
		if s.Inserting() == 0 {
			logger.Info("stopping")
			return
		}
		logger.Info("stopping: what is being handed over is waited for: interrupt again to stop at once, which leaves it unconfirmed")
	})
	return func() {
		if !stop() {
			<-told
		}
	}
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
