package dispatch_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/timeline/session"
)

// A closer is an adapter that must not be used once it is closed.
type closer struct {
	*agent
	closed atomic.Bool
	inside chan struct{}
	leave  chan struct{}
}

func (c *closer) Close() error {
	c.closed.Store(true)
	return nil
}

func (c *closer) Insert(ctx context.Context, p adapter.Prompt) error {
	if p.Text == "slow" {
		close(c.inside)
		<-c.leave
	}
	if c.closed.Load() {
		return adapter.Unconfirm(context.Canceled)
	}
	return c.agent.Insert(ctx, p)
}

// A changed setting opens a new adapter; the old one is closed when the pass that
// uses it has ended, and not before.
func TestAdapterIsClosedAfterItsLastUse(t *testing.T) {
	w := newWorld(t, "s1")
	var opened []*closer
	d := dispatch.New(w.store, dispatch.Options{Adapters: adapter.Registry{{
		Name: "agent", Settings: []adapter.Setting{{Name: "color"}},
		Open: func(adapter.Session, map[string]string) (adapter.Adapter, error) {
			c := &closer{agent: w.agent, inside: make(chan struct{}), leave: make(chan struct{})}
			opened = append(opened, c)
			return c, nil
		},
	}}})
	defer d.Close()
	_, err := d.SendText(t.Context(), "s1", dispatch.Message{Text: "slow", NoDrain: true})
	must(t, err)
	passed := make(chan error, 1)
	go func() {
		_, err := d.Drain(t.Context(), "s1", dispatch.DrainOptions{})
		passed <- err
	}()
	<-opened[0].inside
	s, err := w.store.Open("s1")
	must(t, err)
	defer s.Release()
	must(t, s.Update(t.Context(), func(r *session.Record) error {
		r.Settings = map[string]string{"color": "red"}
		return nil
	}))
	_, err = d.SendText(t.Context(), "s1", dispatch.Message{Text: "meanwhile"})
	must(t, err)
	if len(opened) != 2 || opened[0].closed.Load() {
		t.Fatalf("got %d adapters, the first closed: %v; want a second one beside the first", len(opened), opened[0].closed.Load())
	}
	close(opened[0].leave)
	must(t, <-passed)
	if !opened[0].closed.Load() || opened[1].closed.Load() {
		t.Fatal("want the replaced adapter closed, and the present one open")
	}
}
