package codex_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/adaptertest/hosttest"
	"github.com/docket-go/docket/adapter/codex"
	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/lock/step"
)

// TestAcceptance takes a message only when codex says that it is stored under its id.
func TestAcceptance(t *testing.T) {
	f, a := open(t, whole, nil)
	s, answer := submit(context.Background(), a, "m1")
	start := f.Expect("turn/start")
	if got := client(start); got != "docket-m1" {
		t.Errorf("got the client id %q, want docket-m1", got)
	}
	f.answer(start, `{"turn":{"id":"u-1"}}`)
	f.began()
	f.note("item/completed", `,"turnId":"u-1","item":{"type":"userMessage","clientId":"docket-other"}`)
	f.say(`{"method":"item/completed","params":{"threadId":"t-2","turnId":"u-1","item":{"type":"userMessage","clientId":"docket-m1"}}}`)
	f.text("too early")
	f.say(`{"id":7,"method":"unknown/request"}`)
	if got := f.decision(); got != "error -32601" { // all before it was handled
		t.Errorf("got %s, want an error", got)
	}
	select {
	case err := <-answer:
		t.Errorf("got %v before the message is stored, want no answer", err)
	default:
	}
	f.store(start)
	if err := hosttest.Receive(t, "the answer", answer); err != nil {
		t.Errorf("got %v, want taken", err)
	}
	f.text("hello")
	f.completed("u-9", "failed")
	f.complete("completed")
	if end := s.End(t); end.Outcome != host.Success {
		t.Errorf("got %+v, want success", end)
	}
	hosttest.Equal(t, "emissions", s.All(), []string{"text hello"})
	if got, err := a.Lookup(t.Context(), "m1"); got != adapter.Present || err != nil {
		t.Errorf("Lookup: got %v, %v, want present", got, err)
	}
}

func TestNoSecondMessageWhileATurnIsAtWork(t *testing.T) {
	f, a := open(t, whole, nil)
	s := taken(t, f, a, "m1")
	if err := a.Submit(t.Context(), adapter.Prompt{MID: "m2", Text: "x"}, hosttest.NewSink()); !errors.Is(err, adapter.ErrBusy) {
		t.Errorf("a second message: got %v, want busy", err)
	}
	f.complete("completed")
	s.End(t)
	f.note("turn/started", `,"turn":{"id":"u-2"}`)
	f.say(`{"id":7,"method":"unknown/request"}`)
	f.decision()
	if err := a.Submit(t.Context(), adapter.Prompt{MID: "m2", Text: "x"}, hosttest.NewSink()); !errors.Is(err, adapter.ErrBusy) {
		t.Errorf("a message during codex's own turn: got %v, want busy", err)
	}
	f.completed("u-2", "completed")
	f.say(`{"id":7,"method":"unknown/request"}`)
	f.decision()
	taken(t, f, a, "m2")
}

func TestAnswersThatTakeNothing(t *testing.T) {
	for _, tt := range []struct {
		name string
		play func(f *fake, start hosttest.Message)
		want error
	}{
		{"rejected", func(f *fake, start hosttest.Message) { f.fail(start, -32600, "no such thread") }, adapter.ErrBlocked},
		{"another writer", func(f *fake, start hosttest.Message) {
			f.fail(start, -32600, "thread t-1 already has an active writer")
		}, adapter.ErrBusy},
		{"too long for codex", func(f *fake, start hosttest.Message) { f.fail(start, -32602, "Input exceeds the maximum length") }, adapter.ErrRefused},
		{"internal error", func(f *fake, start hosttest.Message) { f.fail(start, -32603, "oops") }, adapter.ErrUnconfirmed},
		{"dies", func(f *fake, _ hosttest.Message) { f.Conn.Close() }, adapter.ErrUnconfirmed},
		{"no turn in the answer", func(f *fake, start hosttest.Message) { f.answer(start, `{"turn":7}`) }, adapter.ErrUnconfirmed},
		{"the turn ends without the message", func(f *fake, start hosttest.Message) {
			f.answer(start, `{"turn":{"id":"u-1"}}`)
			f.complete("completed")
		}, adapter.ErrUnconfirmed},
		{"the end comes before the answer", func(f *fake, start hosttest.Message) {
			f.complete("completed")
			f.answer(start, `{"turn":{"id":"u-1"}}`)
		}, adapter.ErrUnconfirmed},
		{"ids of messages are not kept", func(f *fake, start hosttest.Message) {
			f.answer(start, `{"turn":{"id":"u-1"}}`)
			f.item("item/completed", `{"type":"userMessage","id":"i-1"}`)
		}, codex.ErrVersion},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, a := open(t, whole, nil)
			s, answer := submit(context.Background(), a, "m1")
			tt.play(f, f.Expect("turn/start"))
			err := hosttest.Receive(t, "the answer", answer)
			if !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			if strings.Contains(err.Error(), "PLANTED") {
				t.Errorf("got %v, want nothing of the data", err)
			}
			if err := a.Close(); err != nil {
				t.Error(err)
			}
			if all := s.All(); len(all)+len(s.Ends()) != 0 {
				t.Errorf("got %q and %v for a message that was not taken, want nothing", all, s.Ends())
			}
		})
	}
}

// TestGivenUp has codex stop a message that it does not answer for in time.
func TestGivenUp(t *testing.T) {
	f, a := open(t, whole, nil)
	ctx, cancel := context.WithCancel(context.Background())
	s, answer := submit(ctx, a, "m1")
	start := f.Expect("turn/start")
	cancel()
	if err := hosttest.Receive(t, "the answer", answer); !errors.Is(err, adapter.ErrUnconfirmed) {
		t.Errorf("got %v, want unconfirmed", err)
	}
	if got, err := a.Lookup(t.Context(), "m1"); got != adapter.CannotTell || err != nil {
		t.Errorf("Lookup on the way: got %v, %v, want cannot tell", got, err)
	}
	f.answer(start, `{"turn":{"id":"u-1"}}`)
	f.began()
	f.answer(f.Expect("turn/interrupt"), `{}`)
	f.store(start)
	f.complete("interrupted")
	f.say(`{"id":7,"method":"unknown/request"}`)
	f.decision()
	if got, err := a.Lookup(t.Context(), "m1"); got != adapter.Present || err != nil {
		t.Errorf("Lookup: got %v, %v, want present", got, err)
	}
	again, answer := submit(context.Background(), a, "m1")
	if err := hosttest.Receive(t, "the answer", answer); err != nil {
		t.Error(err)
	}
	if end := again.End(t); end.Code != codex.CodeRepeated || end.Outcome != host.Interrupted {
		t.Errorf("again: got %+v, want interrupted, repeated", end)
	}
	if all := append(s.All(), again.All()...); len(all)+len(s.Ends()) != 0 {
		t.Errorf("got %q, want nothing of a message that was given up", all)
	}
	taken(t, f, a, "m2")
}

// TestGivenUpForGood ends a program that does not stop.
func TestGivenUpForGood(t *testing.T) {
	o := whole
	o.StopGrace = time.Millisecond
	f, a := open(t, o, nil)
	ctx, cancel := context.WithCancel(context.Background())
	_, answer := submit(ctx, a, "m1")
	f.Expect("turn/start")
	cancel()
	if err := hosttest.Receive(t, "the answer", answer); !errors.Is(err, adapter.ErrUnconfirmed) {
		t.Errorf("got %v, want unconfirmed", err)
	}
	hosttest.Receive(t, "the end", a.Done())
	if err := a.Submit(t.Context(), adapter.Prompt{MID: "m2"}, hosttest.NewSink()); !errors.Is(err, adapter.ErrGone) {
		t.Errorf("got %v, want gone", err)
	}
}

func TestRefusedBefore(t *testing.T) {
	_, a := open(t, whole, nil)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if err := a.Submit(ended, adapter.Prompt{MID: "m"}, hosttest.NewSink()); !errors.Is(err, adapter.ErrRefused) {
		t.Errorf("ended context: got %v, want refused", err)
	}
	if err := a.Submit(t.Context(), adapter.Prompt{MID: "m", Text: "\xff"}, hosttest.NewSink()); !errors.Is(err, adapter.ErrRefused) {
		t.Errorf("invalid text: got %v, want refused", err)
	}
	if err := a.Interrupt(t.Context()); err != nil {
		t.Errorf("Interrupt without a turn: got %v, want nil", err)
	}
	if err := a.Decide(t.Context(), "p", "accept"); !errors.Is(err, host.ErrNoPermission) {
		t.Errorf("Decide without a turn: got %v, want ErrNoPermission", err)
	}
	if a.Err() != nil {
		t.Errorf("got %v of a program that runs, want nil", a.Err())
	}
	if err := a.Close(); err != nil || a.Err() == nil {
		t.Errorf("got %v and %v after Close, want nil and why", err, a.Err())
	}
}

// TestInterruptBeforeCodexHasBegun waits with it, and repeats one that came too early.
func TestInterruptBeforeCodexHasBegun(t *testing.T) {
	f, a := open(t, whole, nil)
	s, answer := submit(context.Background(), a, "m1")
	start := f.Expect("turn/start")
	if err := a.Interrupt(t.Context()); err != nil {
		t.Error(err)
	}
	f.answer(start, `{"turn":{"id":"u-1"}}`)
	f.began()
	f.fail(f.Expect("turn/interrupt"), -32600, "no active turn to interrupt")
	f.answer(f.Expect("turn/interrupt"), `{}`)
	f.store(start)
	f.complete("interrupted")
	if err := hosttest.Receive(t, "the answer", answer); err != nil {
		t.Error(err)
	}
	if end := s.End(t); end.Outcome != host.Cancelled {
		t.Errorf("got %+v, want cancelled", end)
	}
}

// TestProgramThatDoesNotRead gets nothing of the message.
func TestProgramThatDoesNotRead(t *testing.T) {
	f, peer := newFake(t)
	p := stuckPeer{peer, make(chan struct{}), make(chan struct{}, 10)}
	a, err := opened(t, f, p, whole, nil, f.greet)
	if err != nil {
		t.Fatal(err)
	}
	close(p.stuck)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	_, answer := submit(ctx, a, "m1")
	hosttest.Receive(t, "the message's line", p.begun)
	cancel()
	if err := hosttest.Receive(t, "the answer", answer); !errors.Is(err, adapter.ErrGone) {
		t.Errorf("got %v, want gone", err)
	}
}

// TestMessageBehindOthers is taken back when its time is over before it is begun.
func TestMessageBehindOthers(t *testing.T) {
	f, peer := newFake(t)
	p := stuckPeer{peer, make(chan struct{}), make(chan struct{}, 10)}
	a, err := opened(t, f, p, whole, nil, f.greet)
	if err != nil {
		t.Fatal(err)
	}
	close(p.stuck)
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-p.begun; cancel() }()
	if got, err := a.Lookup(ctx, "m1"); got != adapter.CannotTell || err == nil { // its request is stuck
		t.Errorf("Lookup: got %v, %v, want cannot tell and why", got, err)
	}
	for range 2 { // nothing is left of the first
		ctx, cancel := context.WithCancel(context.Background())
		restore := step.Hook(func(at string) {
			if at == "adapter/codex: message is sent" {
				cancel()
			}
		})
		err := a.Submit(ctx, adapter.Prompt{MID: "m1", Text: "x"}, hosttest.NewSink())
		if restore(); !errors.Is(err, adapter.ErrBusy) {
			t.Errorf("got %v, want busy", err)
		}
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if got, err := a.Lookup(t.Context(), "m1"); got != adapter.CannotTell || err == nil {
		t.Errorf("Lookup of an ended program: got %v, %v, want cannot tell and why", got, err)
	}
}
