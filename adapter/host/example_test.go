//go:build linux || darwin

package host_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"sync"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/host"
)

// An echo is the smallest agent: it has no program and answers at once.
type echo struct {
	done chan struct{}
	end  func()
}

func newEcho(context.Context, *host.Seat) (host.Agent, error) {
	done := make(chan struct{})
	return echo{done, sync.OnceFunc(func() { close(done) })}, nil
}

func (echo) Submit(_ context.Context, p adapter.Prompt, to host.Sink) error {
	to.Emit(host.Native{Provider: "echo"}, host.Text{Text: p.Text})
	to.Finish(host.Native{}, host.Finished{Outcome: host.Success})
	return nil
}

func (echo) Interrupt(context.Context) error { return nil }
func (e echo) Done() <-chan struct{}         { return e.done }
func (echo) Err() error                      { return nil }
func (e echo) Close() error                  { e.end(); return nil }

// Broker, recorder and sender are one process here; each of them may be one of its own.
func Example() {
	dir, err := os.MkdirTemp("", "session")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx, stop := context.WithCancel(context.Background())

	broker, err := host.Open(host.Options{
		Session: adapter.Session{ID: "worker-1", Dir: dir},
		Start:   newEcho,
	})
	if err != nil {
		log.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- broker.Serve(ctx) }()

	recorder, err := host.Attach(ctx, dir)
	if err != nil {
		log.Fatal(err)
	}
	if err := recorder.Ready(""); err != nil {
		log.Fatal(err)
	}
	taken := make(chan error, 1)
	for over := false; !over; {
		n, err := recorder.Next()
		if err != nil {
			log.Fatal(err)
		}
		switch n := n.(type) {
		case host.Idle:
			go func() {
				taken <- host.NewClient(dir).Insert(ctx, adapter.Prompt{MID: "m1", Session: "worker-1", Text: "run the tests"})
			}()
		case host.Offer: // here a turn is started in the log
			err = recorder.Dispatch(n.Token)
		case host.Emission: // here it is recorded
			fmt.Printf("%d %+v\n", n.N, n.Value)
			_, over = n.Value.(host.Finished)
		}
		if err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println("sender:", <-taken)
	recorder.Close()
	stop()
	fmt.Println("broker:", <-ended)
	// Output:
	// 1 {Text:run the tests}
	// 2 {Outcome:success Code: Diagnostic:}
	// sender: <nil>
	// broker: <nil>
}
