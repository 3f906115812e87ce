package turn_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/turn"
)

// tempSession makes a session directory for an example.
func tempSession() (dir string, remove func()) {
	root, err := os.MkdirTemp("", "store")
	if err != nil {
		log.Fatal(err)
	}
	dir = filepath.Join(root, "worker-1")
	if err := os.Mkdir(dir, 0o700); err != nil {
		log.Fatal(err)
	}
	return dir, func() { os.RemoveAll(root) }
}

// exampleOptions have a clock that stands still and ids that do not surprise.
func exampleOptions() turn.Options {
	return turn.Options{
		Now:   func() time.Time { return time.Date(2026, 11, 30, 9, 30, 15, 0, time.UTC) },
		NewID: func() string { return "abc" },
	}
}

// One turn from start to finish, and what is in the log then.
func Example() {
	dir, remove := tempSession()
	defer remove()
	ctx := context.Background()

	w, err := turn.Open(ctx, dir, exampleOptions())
	if err != nil {
		log.Fatal(err)
	}
	defer w.Close()

	t, err := w.Start(ctx, turn.Started{MID: "m1", Token: "tok-1"})
	if err != nil {
		log.Fatal(err)
	}
	// Here the prompt goes to the agent. What comes back is emitted on t.
	acp := turn.Native{Provider: "acp", Broker: 1}
	if _, err := t.Emit(ctx, acp, turn.Text{Text: "All tests pass."}); err != nil {
		log.Fatal(err)
	}
	if _, err := t.Finish(ctx, turn.Native{}, turn.Finished{Outcome: turn.Success}); err != nil {
		log.Fatal(err)
	}

	start, err := w.Log().Start(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for e, err := range w.Log().History(ctx, start) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s\n", e.JSON())
	}
	// Output:
	// {"ts":"2026-11-30T09:30:15.000Z","kind":"turn-started","v":1,"turn":"1-abc","mid":"m1"}
	// {"ts":"2026-11-30T09:30:15.000Z","kind":"text","v":1,"turn":"1-abc","text":"All tests pass.","native":{"provider":"acp","broker":1}}
	// {"ts":"2026-11-30T09:30:15.000Z","kind":"turn-finished","v":1,"turn":"1-abc","outcome":"success","code":"","diagnostic":""}
}

// A consumer follows the turns of a session, in whatever process.
func ExampleLog_Follow() {
	dir, remove := tempSession()
	defer remove()
	ctx := context.Background()
	w, err := turn.Open(ctx, dir, exampleOptions())
	if err != nil {
		log.Fatal(err)
	}
	defer w.Close()
	t, err := w.Start(ctx, turn.Started{MID: "m1"})
	if err != nil {
		log.Fatal(err)
	}

	turns, err := turn.Read(dir, turn.ReadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	from, err := turns.Start(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for u, err := range turns.Follow(ctx, from) {
		if err != nil {
			log.Fatal(err)
		}
		if u.CaughtUp { // from here on it waits for news
			fmt.Println("caught up")
			if _, err := t.Finish(ctx, turn.Native{}, turn.Finished{Outcome: turn.Failure, Code: turn.CodeTimeout}); err != nil {
				log.Fatal(err)
			}
			continue
		}
		switch p := u.Event.Payload.(type) {
		case turn.Started:
			fmt.Println("turn", u.Event.TurnNumber(), "answers", p.MID)
		case turn.Finished:
			fmt.Println("turn", u.Event.TurnNumber(), "ended:", p)
			return
		}
	}
	// Output:
	// turn 1 answers m1
	// caught up
	// turn 1 ended: error/timeout
}

// A writer that comes back finds the turn that it was in. Here its producer is gone.
func ExampleWriter_Active() {
	dir, remove := tempSession()
	defer remove()
	ctx := context.Background()
	w, err := turn.Open(ctx, dir, exampleOptions())
	if err != nil {
		log.Fatal(err)
	}
	if _, err := w.Start(ctx, turn.Started{MID: "m1", Token: "tok-1"}); err != nil {
		log.Fatal(err)
	}
	w.Close() // or it was killed

	w, err = turn.Open(ctx, dir, exampleOptions())
	if err != nil {
		log.Fatal(err)
	}
	defer w.Close()
	if t, ok := w.Active(); ok {
		fmt.Println("open:", t.ID(), t.Token(), "after broker sequence", t.Broker())
		gone := turn.Finished{Outcome: turn.Interrupted, Code: turn.CodeRuntimeRestart}
		if _, err := t.Finish(ctx, turn.Native{}, gone); err != nil {
			log.Fatal(err)
		}
	}
	_, ok := w.Active()
	fmt.Println("open:", ok)
	// Output:
	// open: 1-abc tok-1 after broker sequence 0
	// open: false
}

// The barrier clears what belonged to a turn before the next one starts.
func ExampleOptions_barrier() {
	dir, remove := tempSession()
	defer remove()
	ctx := context.Background()
	o := exampleOptions()
	o.Barrier = func(_ context.Context, finished turn.Event) error {
		fmt.Println("revoke the permissions of", finished.Turn)
		return nil
	}
	w, err := turn.Open(ctx, dir, o)
	if err != nil {
		log.Fatal(err)
	}
	defer w.Close()
	for range 2 {
		t, err := w.Start(ctx, turn.Started{})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("turn", t.Number())
		if _, err := w.Start(ctx, turn.Started{}); !errors.Is(err, turn.ErrActive) {
			log.Fatal("two turns at once")
		}
		if _, err := t.SubmitFailed(ctx, "the agent did not answer"); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// turn 1
	// revoke the permissions of 1-abc
	// turn 2
	// revoke the permissions of 2-abc
}

// A cursor is kept as text, and reading goes on from it in another process.
func ExampleLog_History() {
	dir, remove := tempSession()
	defer remove()
	ctx := context.Background()
	w, err := turn.Open(ctx, dir, exampleOptions())
	if err != nil {
		log.Fatal(err)
	}
	defer w.Close()
	seen, err := w.Publish(ctx, turn.Native{}, turn.State{Name: "model", Value: "small"})
	if err != nil {
		log.Fatal(err)
	}
	kept := seen.Next.String()
	if _, err := w.Publish(ctx, turn.Native{}, turn.State{Name: "model", Value: "large"}); err != nil {
		log.Fatal(err)
	}

	from, err := timeline.ParseCursor(kept)
	if err != nil {
		log.Fatal(err)
	}
	for e, err := range w.Log().History(ctx, from) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(e.Payload.(turn.State).Value)
	}
	// Output: large
}
