//go:build linux || darwin

package host_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/host"
)

// A deciding agent does something of its own with a decision.
type deciding struct {
	*fake
	decide func() error
}

func (d deciding) Decide(context.Context, string, string) error { return d.decide() }

var allow = host.Permission{ID: "p1", Title: "run it", Options: []host.Option{{ID: "y", Name: "Yes", Grants: true}}}

// An answer with which the turn ends is recorded as an answer, not as revoked.
func TestDecisionThatEndsTheTurn(t *testing.T) {
	dir, agent := newDir(t), newFake()
	sinks := make(chan host.Sink, 2)
	agent.set(holds(sinks))
	var to host.Sink
	serve(t, dir, func(context.Context, *host.Seat) (host.Agent, error) {
		return deciding{agent, func() error { to.Finish(host.Native{}, success); return nil }}, nil
	})
	d := record(t, dir)
	insert(t, dir, prompt("m1"), adapter.Taken)
	to = receive(t, "sink", sinks)
	to.Emit(host.Native{}, allow)
	if err := host.NewClient(dir).Decide(t.Context(), "p1", "y"); err != nil {
		t.Fatal(err)
	}
	equal(t, "turn", d.wait(t, 3), "1 permission p1 asked", "2 permission p1 granted", "3 finished success/")
}

// An answer that the agent does not take leaves the request to be answered.
func TestDecisionThatIsNotTaken(t *testing.T) {
	dir, agent := newDir(t), newFake()
	sinks := make(chan host.Sink, 2)
	agent.set(holds(sinks))
	answers := []error{errors.New("the pipe is broken"), nil}
	serve(t, dir, func(context.Context, *host.Seat) (host.Agent, error) {
		return deciding{agent, func() (err error) { err, answers = answers[0], answers[1:]; return err }}, nil
	})
	d := record(t, dir)
	insert(t, dir, prompt("m1"), adapter.Taken)
	to := receive(t, "sink", sinks)
	to.Emit(host.Native{}, allow)
	c := host.NewClient(dir)
	if err := c.Decide(t.Context(), "p1", "y"); err == nil || !strings.Contains(err.Error(), "the pipe is broken") {
		t.Errorf("got %v, want what the agent said", err)
	}
	if err := c.Decide(t.Context(), "p1", "y"); err != nil {
		t.Error(err)
	}
	to.Finish(host.Native{}, success)
	equal(t, "turn", d.wait(t, 5), "1 permission p1 asked", "2 permission p1 granted", "3 permission p1 asked", "4 permission p1 granted", "5 finished success/")
}

// What is no plain file is refused, and not waited for.
func TestPlantedPipes(t *testing.T) {
	dir := newDir(t)
	for _, name := range []string{"host.addr", "host.agent", "host.agent.new"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := host.NewClient(dir).Probe(t.Context()); err == nil || !strings.Contains(err.Error(), "host.addr is not a small plain file") {
		t.Errorf("Probe: got %v, want the file named", err)
	}
	serve(t, dir, only(newFake()))
	record(t, dir)
	insert(t, dir, prompt("m1"), adapter.Taken)
}
