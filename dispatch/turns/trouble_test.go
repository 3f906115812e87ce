//go:build linux || darwin

package turns_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/dispatch/turns"
	"github.com/docket-go/docket/timeline/turn"
)

// A message whose agent did not start is handed over when it does, with nobody else to
// try again.
func TestBrokenStartIsTriedAgain(t *testing.T) {
	w, agent := newWorld(t), newFake()
	var tries atomic.Int32
	w.serve(func(context.Context, *host.Seat) (host.Agent, error) {
		if tries.Add(1) < 4 {
			return nil, errors.New("no such model")
		}
		return agent, nil
	}, func(o *host.Options) { o.FirstBackoff, o.LastBackoff = time.Millisecond, 2*time.Millisecond })
	w.send("one")
	w.record()
	w.wants("1.0 started", "1.1 text ack", "1.2 finished success")
}

// When an append fails, the agent is stopped and nothing more is taken; a recorder that
// opens the log anew goes on.
func TestFaultedLogStopsTheAgent(t *testing.T) {
	w, first := newWorld(t), newHeld()
	agents := make(chan *fake, 9)
	agents <- first
	w.serve(func(context.Context, *host.Seat) (host.Agent, error) {
		select {
		case f := <-agents:
			return f, nil
		default:
			return newFake(), nil
		}
	})
	faulted := make(chan error, 1)
	r := w.open(func(o *turns.Options) { o.Turns.Faulted = func(err error) { faulted <- err } })
	ran := make(chan error, 1)
	go func() { ran <- r.Run(t.Context()) }()
	w.idle()
	w.send("one")
	to := receive(t, first.sinks)
	to.Emit(none, host.Text{Text: "a"})
	w.wants("1.0 started", "1.1 text a")
	// Something stands where the record lock should be.
	planted := filepath.Join(w.dir, "record.lock")
	if err := errors.Join(os.Remove(planted), os.Mkdir(planted, 0o700)); err != nil {
		t.Fatal(err)
	}
	to.Emit(none, host.Text{Text: "b"})
	if err := receive(t, ran); !errors.Is(err, turn.ErrFaulted) || !errors.Is(receive(t, faulted), turn.ErrFaulted) {
		t.Errorf("Run: got %v, want ErrFaulted", err)
	}
	<-first.done
	if err := os.Remove(planted); err != nil {
		t.Fatal(err)
	}
	if a := w.send("two"); a.Delivered {
		t.Error("got a message delivered, want it owed while nothing is recorded")
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	w.record()
	w.wants("1.0 started", "1.1 text a", "1.0 finished interrupted/replay_gap", "2.0 started", "2.1 text ack", "2.2 finished success")
}
