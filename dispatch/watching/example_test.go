package watching_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/dispatch/watching"
	"github.com/docket-go/docket/timeline/session"
)

func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "docket")
	check(err)
	defer os.RemoveAll(dir)
	store, err := session.OpenStore(dir, session.Options{})
	check(err)
	lead, err := store.Create(ctx, session.New{ID: "lead"})
	check(err)
	defer lead.Release()
	worker, err := store.Create(ctx, session.New{ID: "worker-1"})
	check(err)
	defer worker.Release()
	d := dispatch.New(store, dispatch.Options{})
	defer d.Close()

	w := watching.New(store, d, watching.Options{})
	_, err = w.Add(ctx, "worker-1", watching.Request{By: "lead"})
	check(err)

	// Whoever declares tells, and a sweeper tells for those who died before.
	_, err = worker.Declare(ctx, session.Declaration{Status: session.StatusAsking, Note: "tabs or blanks?"})
	check(err)
	_, err = w.Tell(ctx, "worker-1", watching.TellOptions{})
	check(err)
	sweeper := dispatch.NewSweeper(d, dispatch.SweepOptions{Tend: func(ctx context.Context, id string) error {
		_, err := w.Tell(ctx, id, watching.TellOptions{NoDrain: true})
		return err
	}})
	_, err = sweeper.Sweep(ctx)
	check(err)

	owed, err := d.Pending(ctx, "lead")
	check(err)
	for _, e := range owed {
		fmt.Println("from", e.From, "about", e.Attributes["watch.status"])
		fmt.Println(withoutTime(e.Text))
	}
	// Output:
	// from worker-1 about asking
	// [docket] worker-1 declared asking at ...: it waits for an answer to its note. Its note:
	//
	//     tabs or blanks?
	//
	// To answer: docket send worker-1 --from lead "<your answer>"
	// lead watches worker-1; to end that: docket unwatch worker-1 --by lead
}

// withoutTime takes the time out of a message, for the output to be the same each time.
func withoutTime(text string) string {
	before, rest, _ := strings.Cut(text, " at ")
	_, after, _ := strings.Cut(rest, "Z:")
	return before + " at ...:" + after
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
