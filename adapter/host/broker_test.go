//go:build linux || darwin

package host_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/host"
)

// holds makes the agent take a prompt and then do nothing: the test has its sink.
func holds(sinks chan<- host.Sink) func(context.Context, adapter.Prompt, host.Sink) error {
	return func(_ context.Context, _ adapter.Prompt, to host.Sink) error {
		sinks <- to
		return nil
	}
}

func TestEmissionsAreNumberedAndEndOnce(t *testing.T) {
	dir, agent := newDir(t), newFake()
	sinks := make(chan host.Sink, 1)
	agent.set(holds(sinks))
	serve(t, dir, only(agent))
	d := record(t, dir)
	insert(t, dir, prompt("m1"), adapter.Taken)
	first := receive(t, "sink", sinks)
	first.Emit(host.Native{Item: "i1"}, host.Thought{Text: "hm"})
	first.Emit(host.Native{}, host.Text{Text: "one"})
	first.Emit(host.Native{}, host.Result{Text: "result"})
	first.Emit(host.Native{}, host.Diagnostic{Severity: "loud", Text: "retry"})
	first.Emit(host.Native{}, host.Tool{ID: "t", Status: host.ToolFailed})
	first.Finish(host.Native{Turn: "n1"}, success)
	first.Finish(host.Native{}, host.Finished{Outcome: host.Failure})
	first.Emit(host.Native{}, host.Text{Text: "late"})
	equal(t, "first turn", d.wait(t, 6), "1 host.Thought", "2 text one", "3 host.Result", "4 diagnostic ", "5 host.Tool", "6 finished success/")
	idle(t, dir)
	insert(t, dir, prompt("m2"), adapter.Taken)
	second := receive(t, "sink", sinks)
	first.Emit(host.Native{}, host.Text{Text: "very late"})
	first.Finish(host.Native{}, success)
	second.Emit(host.Native{}, host.Text{Text: "two"})
	second.Finish(host.Native{}, success)
	equal(t, "second turn", d.wait(t, 8)[6:], "1 text two", "2 finished success/")
	all := d.emissions()
	if all[0].Token == all[6].Token || all[0].Native.Item != "i1" || all[5].Native.Turn != "n1" {
		t.Errorf("got %+v, want two tokens and the provenance", all)
	}
	if v := all[3].Value.(host.Diagnostic); v.Severity != host.Info {
		t.Errorf("got severity %q, want a known one for an unknown word", v.Severity)
	}
}

// While a turn is open, or its end is not cleaned up after, a prompt is refused as
// busy, and nothing of it reaches the agent.
func TestBusyUntilTheBarrier(t *testing.T) {
	dir, agent := newDir(t), newFake()
	sinks := make(chan host.Sink, 2)
	agent.set(holds(sinks))
	serve(t, dir, only(agent))
	d := record(t, dir, func(d *desk) { d.stall = func(host.Emission) bool { return false } })
	insert(t, dir, prompt("m1"), adapter.Taken)
	busy := func(when string) {
		t.Helper()
		if err := insert(t, dir, prompt("m2"), adapter.Refused); !errors.Is(err, adapter.ErrBusy) {
			t.Errorf("%s: got %v, want ErrBusy", when, err)
		}
		if s, err := host.NewClient(dir).Probe(t.Context()); s != adapter.Busy || err != nil {
			t.Errorf("%s: Probe: got %s, %v, want busy", when, s, err)
		}
	}
	busy("open turn")
	receive(t, "sink", sinks).Finish(host.Native{}, success)
	token := d.wait(t, 1) // finished, and the recorder is not ready
	busy("after " + token[0])
	if err := d.owner.Ready(d.emissions()[0].Token); err != nil {
		t.Fatal(err)
	}
	idle(t, dir)
	insert(t, dir, prompt("m2"), adapter.Taken)
	if got := len(agent.received()); got != 2 {
		t.Errorf("got %d prompts at the agent, want 2", got)
	}
}

// Submit's answer is the sender's, and a turn that started ends in any case.
func TestSubmitAnswers(t *testing.T) {
	for _, tt := range []struct {
		name   string
		submit func(ctx context.Context, p adapter.Prompt, to host.Sink) error
		want   adapter.Answer
		turn   []string
		look   adapter.Presence
	}{
		{"taken", func(_ context.Context, _ adapter.Prompt, to host.Sink) error {
			to.Finish(host.Native{}, success)
			return nil
		}, adapter.Taken, []string{"1 finished success/"}, adapter.Present},
		{"refused", func(context.Context, adapter.Prompt, host.Sink) error {
			return adapter.Because(adapter.ErrBlocked, errors.New("log in first"))
		}, adapter.Refused, []string{"1 diagnostic submit_refused", "2 finished error/submit_failed"}, adapter.Absent},
		{"unconfirmed", func(context.Context, adapter.Prompt, host.Sink) error {
			return errors.New("pipe broke")
		}, adapter.Unconfirmed, []string{"1 diagnostic submit_unconfirmed", "2 finished error/submit_failed"}, adapter.CannotTell},
		{"panic", func(context.Context, adapter.Prompt, host.Sink) error { panic("driver") },
			adapter.Unconfirmed, []string{"1 diagnostic submit_unconfirmed", "2 finished error/submit_failed"}, adapter.CannotTell},
		{"the producer's terminal came first", func(_ context.Context, _ adapter.Prompt, to host.Sink) error {
			to.Finish(host.Native{}, host.Finished{Outcome: host.Failure, Code: "refused"})
			return errors.New("pipe broke")
		}, adapter.Unconfirmed, []string{"1 finished error/refused"}, adapter.CannotTell},
		{"a refusal after something came of it", func(_ context.Context, _ adapter.Prompt, to host.Sink) error {
			to.Emit(host.Native{}, host.Text{Text: "begun"})
			return adapter.Refuse(errors.New("no"))
		}, adapter.Unconfirmed, []string{"1 text begun", "2 diagnostic submit_unconfirmed", "3 finished error/submit_failed"}, adapter.CannotTell},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir, agent := newDir(t), newFake()
			agent.set(tt.submit)
			serve(t, dir, only(agent))
			d := record(t, dir, func(d *desk) { d.find = func(string) adapter.Presence { return adapter.CannotTell } })
			err := insert(t, dir, prompt("m1"), tt.want)
			if tt.name == "refused" && (!errors.Is(err, adapter.ErrBlocked) || !strings.Contains(err.Error(), "log in first")) {
				t.Errorf("got %v, want the agent's reason", err)
			}
			equal(t, "turn", d.wait(t, len(tt.turn)), tt.turn...)
			if got, err := host.NewClient(dir).Lookup(t.Context(), "m1"); got != tt.look {
				t.Errorf("Lookup: got %s, %v, want %s", got, err, tt.look)
			}
			idle(t, dir) // the host goes on
		})
	}
}

// The recorder says no: the prompt never reaches the agent.
func TestRejectedOffer(t *testing.T) {
	dir, agent := newDir(t), newFake()
	serve(t, dir, only(agent))
	record(t, dir, func(d *desk) {
		d.asks = func(o host.Offer) error {
			if o.Prompt.MID == "m1" {
				return adapter.Because(adapter.ErrBlocked, errors.New("the log is faulted"))
			}
			return nil
		}
	})
	if err := insert(t, dir, prompt("m1"), adapter.Refused); !errors.Is(err, adapter.ErrBlocked) || !strings.Contains(err.Error(), "faulted") {
		t.Errorf("got %v, want the recorder's reason", err)
	}
	insert(t, dir, prompt("m2"), adapter.Taken)
	if got := agent.received(); len(got) != 1 || got[0].MID != "m2" {
		t.Errorf("got %v at the agent, want m2 alone", got)
	}
}

func TestPermissions(t *testing.T) {
	dir, agent := newDir(t), newFake()
	sinks := make(chan host.Sink, 1)
	agent.set(holds(sinks))
	serve(t, dir, only(agent))
	d := record(t, dir)
	c := host.NewClient(dir)
	insert(t, dir, prompt("m1"), adapter.Taken)
	to := receive(t, "sink", sinks)
	for _, id := range []string{"p1", "p2", "p3"} {
		to.Emit(host.Native{}, host.Permission{ID: id, Title: "run it", Options: []host.Option{{ID: "y", Name: "Yes", Grants: true}, {ID: "n", Name: "No"}}})
	}
	to.Emit(host.Native{}, host.Permission{ID: "p1"}) // said twice
	to.Emit(host.Native{}, host.Permission{Title: "without an id"})
	if err := c.Decide(t.Context(), "p1", "maybe"); !errors.Is(err, host.ErrNoOption) || !strings.HasSuffix(err.Error(), `"maybe": give one of "y", "n"`) {
		t.Errorf("Decide p1 maybe: got %v, want ErrNoOption with the options", err)
	}
	for _, bad := range [][2]string{{"p9", "y"}, {"", ""}} {
		if err := c.Decide(t.Context(), bad[0], bad[1]); !errors.Is(err, host.ErrNoPermission) {
			t.Errorf("Decide %q: got %v, want ErrNoPermission", bad, err)
		}
	}
	for _, decision := range [][2]string{{"p1", "y"}, {"p2", "n"}} {
		if err := c.Decide(t.Context(), decision[0], decision[1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Decide(t.Context(), "p1", "y"); !errors.Is(err, host.ErrNoPermission) {
		t.Errorf("Decide again: got %v, want ErrNoPermission", err)
	}
	// An interrupt revokes at once, before the agent says that it stopped.
	if err := c.Interrupt(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.Decide(t.Context(), "p3", "y"); !errors.Is(err, host.ErrNoPermission) {
		t.Errorf("Decide after the interrupt: got %v, want ErrNoPermission", err)
	}
	to.Emit(host.Native{}, host.Permission{ID: "p4"})
	to.Finish(host.Native{}, host.Finished{Outcome: host.Cancelled})
	equal(t, "turn", d.wait(t, 10), "1 permission p1 asked", "2 permission p2 asked", "3 permission p3 asked",
		"4 diagnostic permission_lost", "5 permission p1 granted", "6 permission p2 denied", "7 permission p3 revoked",
		"8 permission p4 asked", "9 permission p4 revoked", "10 finished cancelled/")
	equal(t, "decisions", agent.decisions, "p1=y", "p2=n")
	if agent.interrupts != 1 {
		t.Errorf("got %d interrupts, want 1", agent.interrupts)
	}
	idle(t, dir)
	if err := c.Interrupt(t.Context()); err != nil || agent.interrupts != 1 {
		t.Errorf("Interrupt of nothing: got %v and %d interrupts, want none", err, agent.interrupts)
	}
}

// A turn that goes on after it was interrupted is ended with its program.
func TestUnresponsiveAgentIsEnded(t *testing.T) {
	dir, agents := newDir(t), make(chan *fake, 2)
	serve(t, dir, starts(agents, holds(make(chan host.Sink, 9))), func(o *host.Options) { o.InterruptGrace = 1 })
	d := record(t, dir)
	insert(t, dir, prompt("m1"), adapter.Taken)
	if err := host.NewClient(dir).Interrupt(t.Context()); err != nil {
		t.Fatal(err)
	}
	equal(t, "turn", d.wait(t, 1), "1 finished cancelled/unresponsive")
	<-receive(t, "agent", agents).done
	idle(t, dir)
	insert(t, dir, prompt("m2"), adapter.Taken)
	receive(t, "second agent", agents)
}

// starts returns a Starter that makes a new fake each time and tells of it.
func starts(made chan<- *fake, script func(context.Context, adapter.Prompt, host.Sink) error) host.Starter {
	return func(context.Context, *host.Seat) (host.Agent, error) {
		f := newFake()
		f.set(script)
		made <- f
		return f, nil
	}
}

func TestAgentDiesInsideATurn(t *testing.T) {
	dir, agents := newDir(t), make(chan *fake, 2)
	sinks := make(chan host.Sink, 2)
	serve(t, dir, starts(agents, holds(sinks)))
	d := record(t, dir)
	insert(t, dir, prompt("m1"), adapter.Taken)
	to := receive(t, "sink", sinks)
	to.Emit(host.Native{}, host.Text{Text: "part"})
	receive(t, "agent", agents).die(errors.New("exit status 3"))
	equal(t, "turn", d.wait(t, 2), "1 text part", "2 finished interrupted/agent_exited")
	if f := d.emissions()[1].Value.(host.Finished); f.Diagnostic != "exit status 3" {
		t.Errorf("got diagnostic %q, want how it exited", f.Diagnostic)
	}
	idle(t, dir)
	insert(t, dir, prompt("m2"), adapter.Taken) // by a new program
	receive(t, "second agent", agents)
}

// An agent that does not start is tried again only after a pause, and says why.
func TestStartIsBackedOff(t *testing.T) {
	dir := newDir(t)
	clock := newClock()
	tries, broken := 0, true
	agent := newFake()
	serve(t, dir, func(context.Context, *host.Seat) (host.Agent, error) {
		tries++
		if broken {
			return nil, fmt.Errorf("no such program (try %d)", tries)
		}
		return agent, nil
	}, func(o *host.Options) { o.FirstBackoff, o.LastBackoff, o.Now = time.Hour, 3*time.Hour, clock.now })
	record(t, dir)
	gone := func(try string) {
		t.Helper()
		eventually(t, "the host says that the agent is gone", func() bool {
			s, err := host.NewClient(dir).Probe(t.Context())
			return s == adapter.Gone && strings.Contains(err.Error(), try)
		})
		err := insert(t, dir, prompt("m1"), adapter.Refused)
		if !errors.Is(err, adapter.ErrGone) || !strings.Contains(err.Error(), try) {
			t.Errorf("got %v, want ErrGone with the reason of %s", err, try)
		}
	}
	gone("(try 1)")
	clock.add(time.Hour)
	insert(t, dir, prompt("m1"), adapter.Refused)
	gone("(try 2)")
	clock.add(time.Hour)
	gone("(try 2)") // the second pause is longer
	clock.add(time.Hour)
	insert(t, dir, prompt("m1"), adapter.Refused)
	gone("(try 3)")
	broken = false
	clock.add(3 * time.Hour)
	insert(t, dir, prompt("m1"), adapter.Taken)
}

func TestFactsAreToldAndToldAgain(t *testing.T) {
	dir, agent := newDir(t), newFake()
	seats := make(chan *host.Seat, 1)
	serve(t, dir, func(_ context.Context, s *host.Seat) (host.Agent, error) { seats <- s; return agent, nil })
	seat := receive(t, "seat", seats)
	seat.Publish(host.State{Name: "model", Value: "a"})
	seat.Publish(host.State{Name: "model", Value: "b"})
	seat.Publish(host.State{Name: "", Value: "nameless"})
	d := record(t, dir)
	seat.Publish(host.State{Name: "mode", Value: "plan"})
	seat.Publish(host.State{Name: "mode", Value: "plan"})
	facts := func(d *desk) string {
		d.mu.Lock()
		defer d.mu.Unlock()
		return strings.Join(d.facts, " ")
	}
	eventually(t, "both facts are told", func() bool { return facts(d) == "model=b mode=plan" })
	d.owner.Close()
	again := record(t, dir)
	eventually(t, "they are told to the next", func() bool { return facts(again) == "mode=plan model=b" })
	if seat.Session.ID != "s1" || seat.Session.Dir != dir {
		t.Errorf("got session %+v, want s1 in %s", seat.Session, dir)
	}
}

// A broker that is told to end finishes the turn and lets its recorder have that.
func TestStop(t *testing.T) {
	dir, agent := newDir(t), newFake()
	agent.set(holds(make(chan host.Sink, 1)))
	stop := serve(t, dir, only(agent))
	d := record(t, dir)
	insert(t, dir, prompt("m1"), adapter.Taken)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	<-agent.done
	receiveEnd(t, d)
	equal(t, "turn", short(d.emissions()), "1 finished interrupted/host_stopped")
	if err := insert(t, dir, prompt("m2"), adapter.Refused); !errors.Is(err, host.ErrNoHost) || errors.Is(err, host.ErrDied) || !errors.Is(err, adapter.ErrGone) {
		t.Errorf("got %v, want ErrNoHost, which is ErrGone", err)
	}
	if s, err := host.NewClient(dir).Probe(t.Context()); s != adapter.Gone || !errors.Is(err, host.ErrNoHost) {
		t.Errorf("Probe: got %s, %v, want gone", s, err)
	}
	if p, err := host.NewClient(dir).Lookup(t.Context(), "m1"); p != adapter.CannotTell || err == nil {
		t.Errorf("Lookup: got %s, %v, want that it cannot tell, and why", p, err)
	}
	serve(t, dir, only(newFake())) // and the next one can begin
}

func receiveEnd(t *testing.T, d *desk) {
	t.Helper()
	eventually(t, "the recorder's connection ends", func() bool {
		select {
		case <-d.ended:
			return true
		default:
			return false
		}
	})
	if !isEOF(d.err) {
		t.Errorf("got %v, want io.EOF", d.err)
	}
}
