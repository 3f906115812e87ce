package fleet_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/fleet"
	"github.com/docket-go/docket/timeline/session"
)

// A reader opens its position, follows behind it, and saves how far it came. The first
// time and every later one are the same code.
func ExamplePosition() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "docket")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := session.OpenStore(dir, session.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, id := range []string{"lead", "worker-1"} {
		s, err := store.Create(ctx, session.New{ID: id})
		if err != nil {
			log.Fatal(err)
		}
		defer s.Release()
	}
	for _, text := range []string{"read the parser", "now its tests"} {
		s, err := store.Open("worker-1")
		if err != nil {
			log.Fatal(err)
		}
		if _, err := s.Timeline().Append(ctx, timeline.Sent{MID: "m", Text: text}); err != nil {
			log.Fatal(err)
		}
		s.Release()
		if err := readNews(ctx, store); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// worker-1 joined
	// worker-1 got: read the parser
	// caught up
	// worker-1 got: now its tests
	// caught up
}

// readNews prints what the session lead has not read yet.
func readNews(ctx context.Context, store *session.Store) error {
	p, err := fleet.OpenPosition(store, "lead")
	if err != nil {
		return err
	}
	defer p.Close()
	for u, err := range fleet.Follow(ctx, store, p.Resume(fleet.Options{Match: []string{"worker-*"}})) {
		if err != nil {
			return err
		}
		switch {
		case u.CaughtUp:
			fmt.Println("caught up") // a reader that stays goes on here, after a Save
			return p.Save(ctx)
		case u.Joined:
			fmt.Println(u.Session, "joined")
		default:
			fmt.Println(u.Session, "got:", u.Event.Text)
		}
		p.Advance(u) // it is dealt with
	}
	return ctx.Err()
}
