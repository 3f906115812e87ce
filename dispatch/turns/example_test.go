//go:build linux || darwin

package turns_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/dispatch/turns"
	"github.com/docket-go/docket/timeline/session"
	"github.com/docket-go/docket/timeline/turn"
)

// runHost is a session's host with its recorder in one process, until ctx ends.
func runHost(ctx context.Context, s *session.Session, d *dispatch.Dispatcher, start host.Starter) error {
	b, err := host.Open(host.Options{Session: adapter.Session{ID: s.ID(), Dir: s.Dir()}, Start: start})
	if err != nil {
		return err
	}
	serving, stop := context.WithCancel(ctx)
	defer stop()
	served := make(chan error, 1)
	go func() { served <- b.Serve(serving) }()
	r, err := turns.Open(ctx, s.Dir(), turns.Options{
		Drain: func(ctx context.Context) error {
			_, err := d.Drain(ctx, s.ID(), dispatch.DrainOptions{})
			return err
		},
		Permissions: turns.Asking(s),
	})
	if err != nil {
		stop()
		return errors.Join(err, <-served)
	}
	// The recorder outlives the broker, so that the end of the last turn is recorded.
	err = r.Run(context.WithoutCancel(ctx))
	if errors.Is(err, host.ErrNoHost) {
		err = nil
	}
	stop()
	return errors.Join(err, <-served, r.Close())
}

func Example() {
	root, err := os.MkdirTemp("", "store")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(root)
	store, err := session.OpenStore(root, session.Options{})
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	s, err := store.Create(ctx, session.New{ID: "worker-1", Adapter: "host"})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Release()
	d := dispatch.New(store, dispatch.Options{Adapters: adapter.Registry{host.KindOf("host", "hands prompts to the session's host")}})
	defer d.Close()
	if _, err := d.SendText(ctx, "worker-1", dispatch.Message{Text: "run the tests", NoDrain: true}); err != nil {
		log.Fatal(err)
	}

	ended := make(chan error, 1)
	go func() { ended <- runHost(ctx, s, d, only(newFake())) }()

	events, err := turn.Read(s.Dir(), turn.ReadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	from, err := events.Start(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for u, err := range events.Follow(ctx, from) {
		if err != nil {
			log.Fatal(err)
		}
		if u.CaughtUp {
			continue
		}
		fmt.Println(short(u.Event))
		if _, over := u.Event.Payload.(turn.Finished); over {
			break
		}
	}
	stop()
	fmt.Println(<-ended)
	// Output:
	// 1.0 started
	// 1.1 text ack
	// 1.2 finished success
	// <nil>
}
