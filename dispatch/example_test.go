package dispatch_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/timeline/session"
)

// A harness that is busy once, and then takes everything.
type onceBusy struct{ asked bool }

func (o *onceBusy) Headless() bool { return false }

func (o *onceBusy) Insert(_ context.Context, p adapter.Prompt) error {
	if !o.asked {
		o.asked = true
		return adapter.ErrBusy
	}
	fmt.Println("agent got:", p.Text)
	return nil
}

func ExampleDispatcher_SendText() {
	dir, err := os.MkdirTemp("", "docket")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	store, err := session.OpenStore(dir, session.Options{})
	if err != nil {
		log.Fatal(err)
	}
	s, err := store.Create(ctx, session.New{ID: "worker-1", Adapter: "mine"})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Release()

	agent := &onceBusy{}
	d := dispatch.New(store, dispatch.Options{Adapters: adapter.Registry{{
		Name: "mine",
		Open: func(adapter.Session, map[string]string) (adapter.Adapter, error) { return agent, nil },
	}}})
	defer d.Close()

	accepted, err := d.SendText(ctx, "worker-1", dispatch.Message{Text: "run the tests"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("delivered:", accepted.Delivered, "busy:", errors.Is(accepted.Pass, adapter.ErrBusy))
	pass, err := d.Drain(ctx, "worker-1", dispatch.DrainOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("delivered:", len(pass.Delivered), "owed:", pass.Owed)
	// Output:
	// delivered: false busy: true
	// agent got: run the tests
	// delivered: 1 owed: 0
}
