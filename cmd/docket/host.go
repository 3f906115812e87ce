package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/dispatch/turns"
	"github.com/docket-go/docket/timeline/session"
	"github.com/docket-go/docket/timeline/turn"
)

func hostVerb() verb {
	return verb{
		name: "host", args: "ID [-- CMD ARG...]", min: 1, max: -1, run: runHost,
		changes: true,
		short:   "run the headless agent of a session, hand over what it is owed, and record its turns",
		more: "The session has the adapter of what CMD speaks, as docket new ID --adapter acp gives it:\n" +
			"acp is the Agent Client Protocol on its standard input and output, codex what codex\n" +
			"app-server speaks there, and with oneshot there is a process for each message, whose\n" +
			"command is known by --as: " + presetNames() + ". CMD gets one message at a\n" +
			"time, the next after the turn of the one before. What it asks permission for is asked of\n" +
			"a person, by the session's status; docket permit answers. Log lines go to standard\n" +
			"error, with --verbose those of CMD too, which may hold anything.\n" +
			"The first SIGINT or SIGTERM ends it with CMD and all that this started; a turn that is\n" +
			"open is finished as interrupted. The second one does not wait for that to be recorded.",
		example: "docket host worker-1 --cwd ~/project -- opencode acp\ndocket host worker-2 -- codex app-server\ndocket host worker-3 --as gemini",
		flags: []verbFlag{
			{name: "cwd", usage: "the `DIR` that the agent works in (else the current one)"},
			{name: "as", usage: "with the adapter oneshot: which `PROGRAM` it is; CMD, if there is any, takes the place of its command"},
		},
	}
}

func runHost(ctx context.Context, c *call) error {
	if c.literal != 1 || len(c.args) < 2 && !c.flags.IsSet("as") {
		return &usageError{c.verb, "the command of the agent stands after --: as in docket host ID -- CMD ARG"}
	}
	return c.with(c.about(c.args[0]), func(s *session.Session) error {
		start, err := c.starter(s)
		if err != nil {
			return err
		}
		logger := slog.New(c.logHandler())                              // broker and recorder add the session
		d := dispatch.New(c.store, dispatch.Options{Adapters: kinds()}) // its hand-overs go to this process
		return errors.Join(c.host(ctx, s, d, answeredInWords(start), logger), d.Close())
	})
}

// starter returns what starts the agent, once it is clear that it can be this session's.
func (c *call) starter(s *session.Session) (host.Starter, error) {
	r, err := s.Record()
	if err != nil {
		return nil, err
	}
	speak, ok := speakers()[r.Adapter]
	if !ok {
		return nil, &advised{fmt.Sprintf("the session's adapter is %s, whose messages do not come to a host: make a session for it with docket new ID --adapter %s",
			orNone(r.Adapter), strings.Join(slices.Sorted(maps.Keys(speakers())), " or ")), errNoHostKind}
	}
	program := host.ProcessOptions{Args: c.args[1:], Stderr: c.agentSays()}
	if program.Dir, err = filepath.Abs(c.flags.String("cwd")); err != nil {
		return nil, err
	}
	info, err := os.Stat(program.Dir)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "--cwd", Path: program.Dir, Err: errors.New("not a directory")}
	}
	if err != nil {
		return nil, err
	}
	return speak(c, program)
}

// host is the session's host with its recorder, until ctx ends.
func (c *call) host(ctx context.Context, s *session.Session, d *dispatch.Dispatcher, start host.Starter, logger *slog.Logger) error {
	asking := herald{watches: c.watches, logger: logger}
	defer asking.work.Wait()
	recorder, err := turns.Open(ctx, s.Dir(), turns.Options{
		Turns: turn.Options{Session: s.ID()},
		Drain: func(ctx context.Context) error {
			_, err := d.Drain(ctx, s.ID(), dispatch.DrainOptions{})
			return notBusy(err)
		},
		Permissions: asking.after(ctx, s.ID(), turns.Asking(s)),
		Logger:      logger,
	})
	if err != nil {
		return err
	}
	broker, err := host.Open(host.Options{
		Session: adapter.Session{ID: s.ID(), Dir: s.Dir(), Store: c.store.Dir()}, Start: start, Logger: logger,
	})
	if err != nil {
		return errors.Join(err, recorder.Close())
	}
	logger = logger.With("session", s.ID())
	logger.Info("hosting", "store", c.store.Dir(), "command", c.args[1:])
	serving, stop := context.WithCancel(ctx)
	defer stop()
	served := make(chan error, 1)
	go func() { served <- broker.Serve(serving) }()
	defer context.AfterFunc(ctx, func() { logger.Info("stopping: the agent is being ended") })()
	err = recorder.Run(c.hard) // until the broker is gone, so that the end of the last turn is recorded
	stop()
	ended := <-served
	if ended != nil || errors.Is(err, host.ErrNoHost) {
		err = ended
	}
	return errors.Join(err, recorder.Close())
}

// notBusy leaves out that the agent has enough to do, which is no trouble.
func notBusy(err error) error {
	if errors.Is(err, adapter.ErrBusy) {
		return nil
	}
	return err
}

func orNone(name string) string {
	if name == "" {
		return "none"
	}
	return name
}
