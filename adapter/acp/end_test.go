package acp_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/acp"
	"github.com/docket-go/docket/adapter/adaptertest/hosttest"
	"github.com/docket-go/docket/adapter/host"
)

func TestAgentDiesInsideATurn(t *testing.T) {
	f, a := open(t, acp.Options{PieceDelay: time.Hour}, nil)
	s, answer := submit(context.Background(), a, "go")
	f.Expect("session/prompt")
	f.chunk("held back")
	f.ask("1")
	if err := hosttest.Receive(t, "answer", answer); err != nil {
		t.Fatal(err)
	}
	permission(t, s)
	f.chunk("last words")
	f.Conn.Close()
	hosttest.Receive(t, "the end of the agent", a.Done())
	select {
	case <-s.Done(): // by then everything has gone to the sink
	default:
		t.Error("got no end of the turn when the agent was done, want one")
	}
	if end := s.End(t); end.Outcome != host.Interrupted || end.Code != host.CodeAgentExited {
		t.Errorf("got %+v, want interrupted, agent_exited", end)
	}
	if all := s.All(); all[0] != "text held back" || all[len(all)-1] != "text last words" {
		t.Errorf("got %q, want all that it said", all)
	}
	if err := a.Err(); !errors.Is(err, io.EOF) {
		t.Errorf("got %v, want the end of its output", err)
	}
	_, answer = submit(context.Background(), a, "next")
	if err := hosttest.Receive(t, "answer", answer); !errors.Is(err, adapter.ErrGone) {
		t.Errorf("afterwards: got %v, want gone", err)
	}
	if err := a.Interrupt(context.Background()); err != nil {
		t.Errorf("interrupt: got %v, want nil without a turn", err)
	}
}

func TestAgentDiesWithoutASign(t *testing.T) {
	f, a := open(t, never, nil)
	s, answer := submit(context.Background(), a, "go")
	f.Expect("session/prompt")
	f.Conn.Close()
	if err := hosttest.Receive(t, "answer", answer); adapter.AnswerOf(err) != adapter.Unconfirmed {
		t.Errorf("got %v, want unconfirmed", err)
	}
	hosttest.Receive(t, "the end of the agent", a.Done())
	if len(s.Values())+len(s.Ends()) > 0 {
		t.Errorf("got %q and %v, want nothing", s.All(), s.Ends())
	}
}

func TestCloseWhileSubmitHangs(t *testing.T) {
	f, a := open(t, never, nil)
	_, answer := submit(context.Background(), a, "go")
	f.Expect("session/prompt")
	for range 2 {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
	hosttest.Receive(t, "done", a.Done())
	if err := hosttest.Receive(t, "answer", answer); adapter.AnswerOf(err) != adapter.Unconfirmed {
		t.Errorf("got %v, want unconfirmed", err)
	}
}

func TestInterrupt(t *testing.T) {
	f, a := open(t, whole, nil)
	if err := a.Interrupt(context.Background()); err != nil {
		t.Errorf("without a turn: got %v, want nil", err)
	}
	for _, answer := range []func(prompt hosttest.Message){
		func(prompt hosttest.Message) { f.stop(prompt, "cancelled") },
		func(prompt hosttest.Message) { f.fail(prompt.ID, -32603) }, // some agents answer so
	} {
		s, _ := submit(context.Background(), a, "go")
		prompt := f.Expect("session/prompt")
		f.ask("1")
		permission(t, s)
		if err := a.Interrupt(context.Background()); err != nil {
			t.Error(err)
		}
		if cancel := f.Expect("session/cancel"); string(cancel.Params) != `{"sessionId":"s-1"}` || cancel.ID != nil {
			t.Errorf("got %s with id %s, want a notification for the session", cancel.Params, cancel.ID)
		}
		if got := f.outcome(); got != "cancelled" {
			t.Errorf("what was asked: got %q, want cancelled", got)
		}
		f.ask("2")
		if got := f.outcome(); got != "cancelled" {
			t.Errorf("what is asked afterwards: got %q, want cancelled", got)
		}
		answer(prompt)
		if end := s.End(t); end.Outcome != host.Cancelled {
			t.Errorf("got %+v, want cancelled", end)
		}
	}
}

// TestInterruptedButDone has the agent end before it hears that it should: what it says
// counts.
func TestInterruptedButDone(t *testing.T) {
	f, a := open(t, whole, nil)
	s, _ := submit(context.Background(), a, "go")
	prompt := f.Expect("session/prompt")
	if err := a.Interrupt(context.Background()); err != nil {
		t.Error(err)
	}
	f.stop(prompt, "end_turn")
	if end := s.End(t); end.Outcome != host.Success {
		t.Errorf("got %+v, want success", end)
	}
}

func TestOpenRefuses(t *testing.T) {
	for _, tt := range []struct {
		name string
		play func(f *fake, cancel func())
		want error  // nil means any
		says string // in the error
	}{
		{"a later version", func(f *fake, _ func()) { f.answer(f.Expect("initialize").ID, `{"protocolVersion":2}`) }, acp.ErrVersion, `"2"`},
		{"no version", func(f *fake, _ func()) { f.answer(f.Expect("initialize").ID, `{}`) }, acp.ErrVersion, ""},
		{"nonsense", func(f *fake, _ func()) { f.answer(f.Expect("initialize").ID, `[]`) }, nil, "initialize"},
		{"an error", func(f *fake, _ func()) { f.fail(f.Expect("initialize").ID, -32603) }, nil, "no luck"},
		{"a login", func(f *fake, _ func()) {
			f.answer(f.Expect("initialize").ID, `{"protocolVersion":1}`)
			f.fail(f.Expect("session/new").ID, -32000)
		}, acp.ErrLogin, "log in"},
		{"no session", func(f *fake, _ func()) {
			f.answer(f.Expect("initialize").ID, `{"protocolVersion":1}`)
			f.answer(f.Expect("session/new").ID, `{}`)
		}, nil, "session"},
		{"its end", func(f *fake, _ func()) { f.Expect("initialize"); f.Conn.Close() }, io.EOF, "initialize"},
		{"silence", func(f *fake, cancel func()) { f.Expect("initialize"); cancel() }, context.Canceled, "no answer"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, peer := newFake(t)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			failed := make(chan error, 1)
			go func() {
				_, err := acp.Open(ctx, peer, nil, acp.Options{})
				failed <- err
			}()
			tt.play(f, cancel)
			err := hosttest.Receive(t, "error", failed)
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "PLANTED") {
				t.Errorf("got %v, want %v with %q", err, tt.want, tt.says)
			}
			if _, err := f.Conn.Read(make([]byte, 1)); err == nil {
				t.Error("the agent is still connected, want that it was ended")
			}
		})
	}
}
