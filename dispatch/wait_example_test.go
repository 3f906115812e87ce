package dispatch_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/timeline/fleet"
	"github.com/docket-go/docket/timeline/session"
)

// An asker asks once and is done when it is answered.
type asker struct{ self *session.Session }

func (a asker) Headless() bool { return true }

func (a asker) Insert(ctx context.Context, p adapter.Prompt) error {
	says := session.Declaration{Status: session.StatusAsking, Note: "which branch?"}
	if p.Attributes["answer"] != "" {
		says = session.Declaration{Status: session.StatusAwaiting, Proposal: session.ProposalNothing, Note: "rebased"}
	}
	if _, err := a.self.Declare(ctx, says); err != nil {
		return adapter.Unconfirm(err)
	}
	return nil
}

// employ gives each worker its task, and answers whoever asks, until all have stopped for
// good. It keeps nothing: keys make the sends repeatable, and what counts is what comes
// behind each task. So it may be killed anywhere and run again.
func employ(ctx context.Context, d *dispatch.Dispatcher, workers []string) (ended map[string]string, err error) {
	ended = map[string]string{}
	var behind fleet.Cursor
	for _, id := range workers {
		task, err := d.SendText(ctx, id, dispatch.Message{Text: "rebase", Operation: "task", Key: "rebase"})
		if err != nil {
			return nil, err
		}
		behind = behind.With(task.Cursor)
	}
	for u, err := range fleet.Follow(ctx, d.Store(), fleet.Options{Match: workers, Mode: fleet.After, After: behind}) {
		if one := (*fleet.SessionError)(nil); errors.As(err, &one) {
			log.Print(one) // the others go on
			continue
		}
		if err != nil {
			return nil, err
		}
		switch e := u.Event; {
		case !e.Stops(): // a mark, a message, or work that goes on
		case e.Status == session.StatusAsking:
			answer := dispatch.Message{
				Text: "main", Operation: "answer", Key: u.At.String(), // the question's place
				Attributes: map[string]string{"answer": "yes"},
			}
			if _, err := d.SendText(ctx, u.Session, answer); err != nil {
				return nil, err
			}
		default:
			ended[u.Session] = e.Display() + ": " + e.Note
		}
		if len(ended) == len(workers) {
			break
		}
	}
	return ended, nil
}

// A program gives work to several sessions, waits for all of them, and is run twice.
func Example_wait() {
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
	workers := []string{"worker-1", "worker-2"}
	agents := map[string]asker{}
	for _, id := range workers {
		s, err := store.Create(ctx, session.New{ID: id, Adapter: "asker"})
		if err != nil {
			log.Fatal(err)
		}
		defer s.Release()
		agents[id] = asker{s}
	}
	d := dispatch.New(store, dispatch.Options{Adapters: adapter.Registry{{
		Name: "asker",
		Open: func(s adapter.Session, _ map[string]string) (adapter.Adapter, error) { return agents[s.ID], nil },
	}}})
	defer d.Close()
	for range 2 {
		ended, err := employ(ctx, d, workers)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(ended)
	}
	// Output:
	// map[worker-1:done: rebased worker-2:done: rebased]
	// map[worker-1:done: rebased worker-2:done: rebased]
}
