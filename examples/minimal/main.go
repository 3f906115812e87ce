// Command minimal is the whole of docket in one function: it makes a session,
// sends it a message, delivers what is owed, and reads the timeline.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/exec"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/timeline/session"
)

func main() {
	dir, err := os.MkdirTemp("", "docket")
	check(err)
	defer os.RemoveAll(dir)
	ctx := context.Background()

	store, err := session.OpenStore(dir, session.Options{})
	check(err)
	s, err := store.Create(ctx, session.New{ID: "worker-1", Adapter: "exec", Settings: map[string]string{"cmd": "cat"}})
	check(err)
	defer s.Release()

	d := dispatch.New(store, dispatch.Options{Adapters: adapter.Registry{exec.Kind}})
	defer d.Close()
	_, err = d.SendText(ctx, "worker-1", dispatch.Message{Text: "run the tests", NoDrain: true})
	check(err)
	pass, err := d.Drain(ctx, "worker-1", dispatch.DrainOptions{})
	check(err)
	fmt.Println("delivered:", len(pass.Delivered), "owed:", pass.Owed)
	for e, err := range s.Timeline().All(ctx) {
		check(err)
		fmt.Println(e.Kind, e.Text)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
