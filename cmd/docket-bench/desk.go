package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/cmd/docket-bench/internal/prose"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

// worker is the session that everything is sent to.
const worker = "worker-1"

// A desk is a dispatcher with one session, whose agent takes everything at once.
type desk struct {
	store *session.Store
	d     *dispatch.Dispatcher
	agent *agent
	next  uint64
	sent  int
}

// agent is an adapter that takes everything at once.
type agent struct {
	taken int
	after func() // called when something was taken; may be nil
}

func (a *agent) Headless() bool { return false }

func (a *agent) Insert(context.Context, adapter.Prompt) error {
	a.taken++
	if a.after != nil {
		a.after()
	}
	return nil
}

// openDesk makes a store in dir with the one session.
func openDesk(ctx context.Context, dir string, buffered bool) (*desk, error) {
	store, err := session.OpenStore(dir, session.Options{Timeline: timeline.Options{Buffered: buffered}})
	if err != nil {
		return nil, err
	}
	s, err := store.Create(ctx, session.New{ID: worker, Adapter: "instant"})
	if err != nil {
		return nil, err
	}
	a := &agent{}
	d := dispatch.New(store, dispatch.Options{Adapters: adapter.Registry{{
		Name: "instant",
		Open: func(adapter.Session, map[string]string) (adapter.Adapter, error) { return a, nil },
	}}})
	return &desk{store: store, d: d, agent: a}, s.Release()
}

// sessionDir is the directory of the session.
func (k *desk) sessionDir() string { return filepath.Join(k.store.Dir(), "sessions", worker) }

// send sends the next message.
func (k *desk) send(ctx context.Context, m dispatch.Message) error {
	m.Text = prose.Text(k.next)
	k.next++
	_, err := k.d.SendText(ctx, worker, m)
	if err == nil {
		k.sent++
	}
	return err
}

// owe accepts n messages and hands none over.
func (k *desk) owe(ctx context.Context, n int) error {
	for range n {
		if err := k.send(ctx, dispatch.Message{NoDrain: true}); err != nil {
			return err
		}
	}
	return nil
}

// sendOne sends a message, and ends the pass behind it when one message was taken,
// so that the depth stays what it is.
func (k *desk) sendOne(ctx context.Context) error {
	once, enough := context.WithCancel(ctx)
	defer enough()
	k.agent.after = enough
	return k.send(once, dispatch.Message{})
}

// drain hands over everything.
func (k *desk) drain(ctx context.Context) error {
	k.agent.after = nil
	_, err := k.d.Drain(ctx, worker, dispatch.DrainOptions{})
	return err
}

// check proves that so many messages were accepted, that all but owed of them were
// handed over once, and that the timeline has them all.
func (k *desk) check(ctx context.Context, sent, owed int) error {
	entries, err := k.d.Pending(ctx, worker)
	if err != nil {
		return err
	}
	if len(entries) != owed || k.sent != sent || k.agent.taken != sent-owed {
		return fmt.Errorf("%d messages were to be sent and %d to be owed: %d sent, %d owed, %d taken", sent, owed, k.sent, len(entries), k.agent.taken)
	}
	l, err := timeline.Open(k.sessionDir(), timeline.Options{})
	if err != nil {
		return err
	}
	defer l.Close()
	events := 0
	for e, err := range l.All(ctx) {
		if err != nil {
			return err
		}
		if e.Kind == timeline.KindSent {
			events++
		}
	}
	if events < sent {
		return fmt.Errorf("%d messages were sent, and the timeline has %d", sent, events)
	}
	return nil
}
