// Desk is docket with a host for codex, for tests that kill it: its parts are
//
//	desk new | send TEXT | host | open
//
// DESK_STORE is the store, DESK_CODEX the program, DESK_WORK its working directory,
// DESK_DIE the step at which the process kills itself, and DESK_GATE a file that it
// waits for before that. Open says how many messages are owed and turns not over.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/codex"
	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/dispatch/turns"
	"github.com/docket-go/docket/lock/step"
	"github.com/docket-go/docket/timeline/session"
	"github.com/docket-go/docket/timeline/turn"
)

func main() {
	if die := os.Getenv("DESK_DIE"); die != "" {
		step.Hook(func(name string) {
			if name == die {
				await(os.Getenv("DESK_GATE"))
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
		})
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "desk:", err)
		os.Exit(1)
	}
}

// await waits until a file is there.
func await(path string) {
	for tick := time.NewTicker(time.Millisecond); path != ""; <-tick.C {
		if _, err := os.Stat(path); err == nil {
			return
		}
	}
}

func run(ctx context.Context, part string, args []string) error {
	store, err := session.OpenStore(os.Getenv("DESK_STORE"), session.Options{})
	if err != nil {
		return err
	}
	d := dispatch.New(store, dispatch.Options{Adapters: adapter.Registry{codex.Kind}})
	defer d.Close()
	switch part {
	case "new":
		_, err = store.Create(ctx, session.New{ID: "s1", Adapter: "codex"})
	case "send":
		_, err = d.SendText(ctx, "s1", dispatch.Message{Text: args[0], NoDrain: true})
	case "open":
		err = open(ctx, store, d)
	case "host":
		err = serve(ctx, store, d)
	}
	return err
}

// open prints what is not done yet.
func open(ctx context.Context, store *session.Store, d *dispatch.Dispatcher) error {
	s, err := store.Open("s1")
	if err != nil {
		return err
	}
	owed, err := d.Pending(ctx, "s1")
	if err != nil {
		return err
	}
	log, err := turn.Read(s.Dir(), turn.ReadOptions{})
	if err != nil {
		return err
	}
	begin, err := log.Start(ctx)
	if err != nil {
		return err
	}
	turns := 0
	for e, err := range log.History(ctx, begin) {
		if err != nil {
			return err
		}
		switch e.Payload.(type) {
		case turn.Started:
			turns++
		case turn.Finished:
			turns--
		}
	}
	fmt.Println(len(owed), turns)
	return nil
}

// serve is a host with its recorder, until it is told to end or killed.
func serve(ctx context.Context, store *session.Store, d *dispatch.Dispatcher) error {
	s, err := store.Open("s1")
	if err != nil {
		return err
	}
	b, err := host.Open(host.Options{
		Session: adapter.Session{ID: "s1", Dir: s.Dir()},
		Start: codex.Starter(host.ProcessOptions{
			Args: []string{os.Getenv("DESK_CODEX"), "app-server"}, Dir: os.Getenv("DESK_WORK"), Grace: time.Second,
		}, codex.Options{}),
	})
	if err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() { served <- b.Serve(ctx) }()
	r, err := turns.Open(ctx, s.Dir(), turns.Options{
		Drain: func(ctx context.Context) error {
			_, err := d.Drain(ctx, "s1", dispatch.DrainOptions{})
			return err
		},
		Permissions: turns.Asking(s),
	})
	if err != nil {
		return err
	}
	err = r.Run(context.WithoutCancel(ctx)) // it outlives the broker
	if errors.Is(err, host.ErrNoHost) {
		err = nil
	}
	return errors.Join(err, r.Close(), <-served)
}
