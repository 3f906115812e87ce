// Command taskrun keeps a log of task runs beside the turns of an agent, as a program
// does that has its own idea of a task.
//
//	taskrun -store DIR -log FILE ID       follow the turns of a session
//	taskrun -log FILE -after N            print what was recorded behind number N
//
// It reads canonical turns and nothing of the harness behind them: how a task ended is
// told by the outcome of the turn's last event alone. What it keeps is its own: a file
// with its own numbers, without thoughts, tools and what looks like a secret. Each line
// names the place in the turn log up to which it speaks, so that after a crash the
// program goes on there, and a turn that comes to it again changes nothing.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"

	"github.com/docket-go/docket/timeline/session"
	"github.com/docket-go/docket/timeline/turn"
)

func main() {
	dir := flag.String("store", "", "directory of the store")
	path := flag.String("log", "taskrun.ndjson", "file of the task runs")
	after := flag.Uint64("after", 0, "with no session: the number to print from")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *dir, *path, *after, flag.Args()); err != nil && !errors.Is(err, context.Canceled) {
		log.Fatal(err)
	}
}

func run(ctx context.Context, dir, path string, after uint64, args []string) error {
	runs, err := openRuns(path)
	if err != nil {
		return err
	}
	defer runs.close()
	if len(args) == 1 {
		return record(ctx, dir, args[0], runs)
	}
	for r, err := range runs.replay(after) {
		if err != nil {
			return err
		}
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		fmt.Println(string(line))
	}
	return nil
}

// record follows the turns of a session from where the task log ends.
func record(ctx context.Context, dir, id string, runs *runs) error {
	store, err := session.OpenStore(dir, session.Options{})
	if err != nil {
		return err
	}
	s, err := store.Open(id)
	if err != nil {
		return err
	}
	defer s.Release()
	turns, err := turn.Read(s.Dir(), turn.ReadOptions{})
	if err != nil {
		return err
	}
	from := runs.next
	if from.IsZero() {
		if from, err = turns.Start(ctx); err != nil {
			return err
		}
	}
	for u, err := range turns.Follow(ctx, from) {
		if err != nil {
			return err
		}
		if u.CaughtUp {
			continue
		}
		if err := runs.take(u.Event); err != nil {
			return err
		}
	}
	return nil
}
