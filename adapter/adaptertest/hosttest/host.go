package hosttest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/host"
)

// A Recorder takes what a broker has, as the owner of a turn log does.
type Recorder struct {
	find adapter.Presence

	mu   sync.Mutex
	ends []host.Finished
}

// run takes everything until the connection ends.
func (r *Recorder) run(o *host.Owner) {
	for {
		n, err := o.Next()
		if err == nil {
			err = r.take(o, n)
		}
		if err != nil {
			return // the connection is lost
		}
	}
}

func (r *Recorder) take(o *host.Owner, n host.Notice) error {
	switch n := n.(type) {
	case host.Offer:
		return o.Dispatch(n.Token)
	case host.Question:
		return o.Answer(n, r.find)
	case host.Emission:
		if f, end := n.Value.(host.Finished); end {
			r.mu.Lock()
			r.ends = append(r.ends, f)
			r.mu.Unlock()
			return errors.Join(o.Ack(n.Token, n.N), o.Ready(n.Token))
		}
	}
	return nil
}

// Await waits for n ends of turns, and returns them. Those that skip is true of, if it
// is not nil, count as none.
func (r *Recorder) Await(t testing.TB, n int, skip func(host.Finished) bool) (ends []host.Finished) {
	t.Helper()
	Eventually(t, fmt.Sprintf("%d turns have their ends", n), func() bool {
		r.mu.Lock()
		ends = slices.Clone(r.ends)
		r.mu.Unlock()
		if skip != nil {
			ends = slices.DeleteFunc(ends, skip)
		}
		return len(ends) >= n
	})
	return ends
}

// Serve runs an agent behind a host until the end of the test, for the session s1. It
// returns what records its turns and how prompts get to it. Find is what the recorder
// knows of a message that somebody asks about.
func Serve(t testing.TB, kind adapter.Kind, start host.Starter, find adapter.Presence) (*Recorder, Patient) {
	t.Helper()
	dir, err := os.MkdirTemp("", "host") // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	session := adapter.Session{ID: "s1", Dir: dir}
	b, err := host.Open(host.Options{Session: session, FirstBackoff: -1, Start: start})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	t.Cleanup(func() { cancel(); work.Wait() })
	work.Go(func() {
		if err := b.Serve(ctx); err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	owner, err := host.Attach(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	r := &Recorder{find: find}
	work.Go(func() { r.run(owner) })
	t.Cleanup(func() { owner.Close() })
	if err := owner.Ready(""); err != nil {
		t.Fatal(err)
	}
	a, err := kind.Open(session, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r, Patient{a.(*host.Client)}
}

// A Patient client waits for the end of the turn before, as the pass that a recorder
// starts after each turn does.
type Patient struct{ *host.Client }

// Insert hands over the prompt once the agent is free.
func (p Patient) Insert(ctx context.Context, prompt adapter.Prompt) error {
	err := p.Client.Insert(ctx, prompt)
	for errors.Is(err, adapter.ErrBusy) && ctx.Err() == nil {
		err = p.Client.Insert(ctx, prompt)
	}
	return err
}
