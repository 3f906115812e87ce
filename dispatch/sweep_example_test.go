package dispatch_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/file"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/timeline/session"
)

func ExampleSweeper_Sweep() {
	dir, err := os.MkdirTemp("", "docket-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := sweepOnce(context.Background(), dir); err != nil {
		fmt.Println(err)
	}
	// Output:
	// delivered 1
	// worker-1 owes 0
}

// sweepOnce makes a session that owes a message and sweeps its store.
func sweepOnce(ctx context.Context, dir string) error {
	store, err := session.OpenStore(dir, session.Options{})
	if err != nil {
		return err
	}
	inbox := map[string]string{"path": filepath.Join(dir, "inbox")}
	s, err := store.Create(ctx, session.New{ID: "worker-1", Adapter: "file", Settings: inbox})
	if err != nil {
		return err
	}
	defer s.Release()
	d := dispatch.New(store, dispatch.Options{Adapters: adapter.Registry{file.Kind}})
	defer d.Close()
	if _, err := d.SendText(ctx, "worker-1", dispatch.Message{Text: "run the tests", NoDrain: true}); err != nil {
		return err
	}
	done, err := dispatch.NewSweeper(d, dispatch.SweepOptions{}).Sweep(ctx)
	fmt.Println("delivered", done.Delivered)
	for _, a := range done.Attempts {
		fmt.Println(a.Session, "owes", a.Owed)
	}
	return err
}
