// Command supervisor follows a fleet of sessions and answers each one that asks.
//
//	supervisor -store DIR [-answer TEXT] ID...
//
// It holds nothing that an agent waits for: it reads the timelines, as any process
// may, and answers with ordinary keyed messages. The key is the place of the
// question in the timeline, so that a supervisor that is killed and started again,
// or runs twice, answers each question once.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"

	"golang.org/x/sync/errgroup"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/exec"
	"github.com/docket-go/docket/adapter/file"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

func main() {
	dir := flag.String("store", "", "directory of the store")
	answer := flag.String("answer", "Decide yourself, and say what you decided.", "what to answer")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := supervise(ctx, *dir, flag.Args(), *answer)
	if err != nil && !errors.Is(err, context.Canceled) {
		log.Fatal(err)
	}
}

// supervise follows the sessions until ctx ends.
func supervise(ctx context.Context, dir string, ids []string, answer string) error {
	store, err := session.OpenStore(dir, session.Options{})
	if err != nil {
		return err
	}
	d := dispatch.New(store, dispatch.Options{Adapters: adapter.Registry{exec.Kind, file.Kind}})
	defer d.Close()
	group, ctx := errgroup.WithContext(ctx)
	for _, id := range ids {
		group.Go(func() error { return follow(ctx, store, d, id, answer) })
	}
	return group.Wait()
}

// follow answers the questions of one session, those of its past included: what
// was answered before is replayed and changes nothing.
func follow(ctx context.Context, store *session.Store, d *dispatch.Dispatcher, id, answer string) error {
	s, err := store.Open(id)
	if err != nil {
		return err
	}
	defer s.Release()
	for u, err := range s.Timeline().Follow(ctx, timeline.FollowOptions{}) {
		if errors.Is(err, timeline.ErrCorrupt) {
			log.Printf("session %s: %v", id, err)
			continue
		}
		if err != nil {
			return err
		}
		if u.CaughtUp || u.Event.Status != session.StatusAsking {
			continue
		}
		fmt.Printf("%s asks: %s\n", id, u.Event.Note)
		_, err := d.SendText(ctx, id, dispatch.Message{
			Text: answer, From: "supervisor",
			Operation: "answer", Key: u.Next.String(),
		})
		if err != nil {
			return err
		}
	}
	return nil
}
