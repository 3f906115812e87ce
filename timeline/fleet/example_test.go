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

// A reader keeps the cursor of the last update that it dealt with, and goes on behind
// it the next time.
func Example() {
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
	kept := ""
	for _, id := range []string{"team-1", "team-2"} {
		s, err := store.Create(ctx, session.New{ID: id})
		if err != nil {
			log.Fatal(err)
		}
		defer s.Release()
		if _, err := s.Timeline().Append(ctx, timeline.Sent{MID: "m-" + id, Text: "hello " + id}); err != nil {
			log.Fatal(err)
		}

		o := fleet.Options{Match: []string{"team-*"}}
		if kept != "" {
			o.Mode = fleet.After
			if err := o.After.UnmarshalText([]byte(kept)); err != nil {
				log.Fatal(err)
			}
		}
		for u, err := range fleet.Follow(ctx, store, o) {
			if err != nil {
				log.Fatal(err)
			}
			if u.CaughtUp {
				fmt.Println("caught up")
				break
			}
			if u.Joined {
				fmt.Println(u.Session, "joined")
			} else {
				fmt.Println(u.Session, "got:", u.Event.Text)
			}
			kept = u.Next.String()
		}
	}
	// Output:
	// team-1 joined
	// team-1 got: hello team-1
	// caught up
	// team-2 joined
	// team-2 got: hello team-2
	// caught up
}
