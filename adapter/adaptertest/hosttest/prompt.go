package hosttest

import (
	"context"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/host"
)

// A Prompt is one that was handed to an agent in the background.
type Prompt struct {
	Sink   *Sink
	Answer chan error // gets that of Submit
	Cancel context.CancelFunc
}

// Submit hands a prompt to an agent in the background. Ctx bounds that, and so does
// Cancel.
func Submit(ctx context.Context, a host.Agent, p adapter.Prompt) Prompt {
	ctx, cancel := context.WithCancel(ctx)
	handed := Prompt{NewSink(), make(chan error, 1), cancel}
	go func() { handed.Answer <- a.Submit(ctx, p, handed.Sink) }()
	return handed
}

// Check gives the prompt up if it has no answer yet. One that was taken must have exactly
// one end by now, and nothing after it; of any other nothing may have been emitted.
func (p Prompt) Check(t interface {
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}, n int) {
	p.Cancel()
	var err error
	select {
	case err = <-p.Answer:
	case <-time.After(Patience):
		t.Fatalf("prompt %d: got no answer, want one", n)
	}
	ends, emissions, late := len(p.Sink.Ends()), len(p.Sink.Values()), p.Sink.Late()
	if err == nil && (ends != 1 || late != 0) {
		t.Errorf("prompt %d: got %d ends and %d emissions after them, want one and none", n, ends, late)
	}
	if err != nil && ends+emissions > 0 {
		t.Errorf("prompt %d: got %d ends and %d emissions after %v, want none", n, ends, emissions, err)
	}
}

// Opened runs what opens an agent while greet plays the program, and closes the agent
// with the test.
func Opened[A host.Agent](t testing.TB, open func() (A, error), greet func()) (A, error) {
	t.Helper()
	type result struct {
		agent A
		err   error
	}
	got := make(chan result, 1)
	go func() {
		a, err := open()
		got <- result{a, err}
	}()
	greet()
	r := Receive(t, "the opened agent", got)
	if r.err == nil {
		t.Cleanup(func() { r.agent.Close() })
	}
	return r.agent, r.err
}
