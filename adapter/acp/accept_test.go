package acp_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/acp"
	"github.com/docket-go/docket/adapter/adaptertest/hosttest"
	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/adapter/host/jsonrpc"
)

// never is the options with which the agent is not asked for a sign.
var never = acp.Options{PieceDelay: -1, ProofAfter: -1}

func TestSigns(t *testing.T) {
	chunk := `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}`
	for _, tt := range []struct {
		name string
		show func(f *fake)
		sign bool
	}{
		{"text", func(f *fake) { f.update(chunk) }, true},
		{"thought", func(f *fake) {
			f.update(`{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"x"}}`)
		}, true},
		{"tool", func(f *fake) { f.update(`{"sessionUpdate":"tool_call","toolCallId":"c","title":"x"}`) }, true},
		{"plan", func(f *fake) { f.update(`{"sessionUpdate":"plan","entries":[]}`) }, true},
		{"permission", func(f *fake) { f.ask("5") }, true},
		// These come of a session and not of a prompt.
		{"commands", func(f *fake) { f.update(`{"sessionUpdate":"available_commands_update","availableCommands":[]}`) }, false},
		{"usage", func(f *fake) { f.update(`{"sessionUpdate":"usage_update","used":1,"size":2}`) }, false},
		{"mode", func(f *fake) { f.update(`{"sessionUpdate":"current_mode_update","currentModeId":"x"}`) }, false},
		{"echo", func(f *fake) {
			f.update(`{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"x"}}`)
		}, false},
		{"another session", func(f *fake) { f.updateOf("s-2", chunk) }, false},
		{"another method", func(f *fake) { f.Say(`{"jsonrpc":"2.0","method":"session/gossip","params":{}}`) }, false},
		{"another request", func(f *fake) {
			f.Say(`{"jsonrpc":"2.0","id":1,"method":"fs/read_text_file","params":{"sessionId":"s-1"}}`)
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, a := open(t, never, nil)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			_, answer := submit(ctx, a, "go")
			f.Expect("session/prompt")
			tt.show(f)
			if tt.sign {
				if err := hosttest.Receive(t, "answer", answer); err != nil {
					t.Errorf("got %v, want taken", err)
				}
				return
			}
			f.Say(`{"jsonrpc":"2.0","id":77,"method":"x"}`) // its answer shows that all before was handled
			for string(f.Expect("").ID) != "77" {
			}
			cancel()
			if err := hosttest.Receive(t, "answer", answer); adapter.AnswerOf(err) != adapter.Unconfirmed {
				t.Errorf("got %v, want unconfirmed", err)
			}
		})
	}
}

// TestUpdateOfTheTurnBefore comes when no prompt is there.
func TestUpdateOfTheTurnBefore(t *testing.T) {
	f, a := open(t, whole, nil)
	for range 3 {
		s, answer := submit(context.Background(), a, "go")
		prompt := f.Expect("session/prompt")
		f.stop(prompt, "end_turn")
		if err := hosttest.Receive(t, "answer", answer); err != nil {
			t.Error(err)
		}
		f.chunk("late")
		f.ask("8")
		if got := f.outcome(); got != "cancelled" {
			t.Errorf("permission without a turn: got %q, want cancelled", got)
		}
		if s.End(t); len(s.Values()) > 0 {
			t.Errorf("got %q, want nothing", s.All())
		}
	}
}

// TestProof has an agent think for long: it answers a request that came later.
func TestProof(t *testing.T) {
	f, a := open(t, acp.Options{PieceDelay: -1, ProofAfter: 1}, nil)
	s, answer := submit(context.Background(), a, "go")
	prompt := f.Expect("session/prompt")
	if err := hosttest.Receive(t, "answer", answer); err != nil {
		t.Errorf("got %v, want taken", err)
	}
	f.fail(prompt.ID, -32602) // too late for a refusal
	if end := s.End(t); end.Code != acp.CodeRejected {
		t.Errorf("got %+v, want %s", end, acp.CodeRejected)
	}
}

func TestWithoutASign(t *testing.T) {
	f, a := open(t, acp.Options{PieceDelay: -1, ProofAfter: 1}, nil)
	f.mu.Lock()
	f.mute = true
	f.mu.Unlock()
	ctx, cancel := context.WithCancelCause(context.Background())
	s, answer := submit(ctx, a, "first")
	prompt := f.Expect("session/prompt")
	cancel(errors.New("enough"))
	if err := hosttest.Receive(t, "answer", answer); adapter.AnswerOf(err) != adapter.Unconfirmed || !strings.Contains(err.Error(), "enough") {
		t.Errorf("got %v, want unconfirmed with the cause", err)
	}
	f.Expect("session/cancel")
	_, answer = submit(context.Background(), a, "second")
	if err := hosttest.Receive(t, "answer", answer); !errors.Is(err, adapter.ErrBusy) || !strings.Contains(err.Error(), "m-first") {
		t.Errorf("meanwhile: got %v, want busy with the first", err)
	}
	f.chunk("after all")
	f.ask("9")
	if got := f.outcome(); got != "cancelled" {
		t.Errorf("permission: got %q, want cancelled", got)
	}
	f.stop(prompt, "cancelled")
	if len(s.Values())+len(s.Ends()) > 0 {
		t.Errorf("got %q and %v after Submit's error, want nothing", s.All(), s.Ends())
	}
	third, answer := submitSoon(a, "third")
	f.stop(f.Expect("session/prompt"), "end_turn")
	if err := hosttest.Receive(t, "answer", answer); err != nil {
		t.Errorf("afterwards: got %v, want taken", err)
	}
	third.End(t)
}

// TestWithoutAnEnd has an agent that does not stop what was given up.
func TestWithoutAnEnd(t *testing.T) {
	f, a := open(t, acp.Options{ProofAfter: -1, StopGrace: 1}, nil)
	ctx, cancel := context.WithCancel(context.Background())
	_, answer := submit(ctx, a, "go")
	f.Expect("session/prompt")
	cancel()
	if err := hosttest.Receive(t, "answer", answer); adapter.AnswerOf(err) != adapter.Unconfirmed {
		t.Errorf("got %v, want unconfirmed", err)
	}
	hosttest.Receive(t, "the end of the agent", a.Done())
	if a.Err() == nil {
		t.Error("got no reason, want one")
	}
}

func TestContextEndedBefore(t *testing.T) {
	_, a := open(t, whole, nil)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, answer := submit(ctx, a, "go")
	if err := hosttest.Receive(t, "answer", answer); adapter.AnswerOf(err) != adapter.Refused {
		t.Errorf("got %v, want refused", err)
	}
}

func TestBusy(t *testing.T) {
	f, a := open(t, whole, nil)
	s, answer := submit(context.Background(), a, "first")
	prompt := f.Expect("session/prompt")
	f.chunk("x")
	if err := hosttest.Receive(t, "answer", answer); err != nil {
		t.Fatal(err)
	}
	other, answer := submit(context.Background(), a, "second")
	if err := hosttest.Receive(t, "answer", answer); !errors.Is(err, adapter.ErrBusy) {
		t.Errorf("got %v, want busy", err)
	}
	f.stop(prompt, "end_turn")
	s.End(t)
	if len(other.Values())+len(other.Ends()) > 0 {
		t.Errorf("got %q of a refused prompt, want nothing", other.All())
	}
}

// A deaf peer takes nothing any more.
type deaf struct {
	jsonrpc.Peer
	from  chan struct{} // closed once it is deaf
	takes int           // bytes that it still takes of a line
	begun chan struct{}
	ended chan struct{}

	closing sync.Once
}

func (d *deaf) Write(b []byte) (int, error) {
	select {
	case <-d.from:
	default:
		return d.Peer.Write(b)
	}
	d.begun <- struct{}{}
	<-d.ended
	return min(d.takes, len(b)), errors.New("closed")
}

func (d *deaf) Close() error {
	d.closing.Do(func() { close(d.ended) })
	return d.Peer.Close()
}

func TestAgentThatDoesNotRead(t *testing.T) {
	for _, tt := range []struct {
		name   string
		takes  int
		before bool // another line is stuck before
		answer adapter.Answer
		reason error
	}{
		{"nothing", 0, false, adapter.Refused, adapter.ErrGone},
		{"half of it", 20, false, adapter.Refused, adapter.ErrGone},
		{"all of it", 1 << 20, false, adapter.Unconfirmed, adapter.ErrUnconfirmed},
		{"not its turn", 0, true, adapter.Refused, adapter.ErrBusy},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, peer := newFake(t)
			d := &deaf{Peer: peer, takes: tt.takes, from: make(chan struct{}), begun: make(chan struct{}, 10), ended: make(chan struct{})}
			got := make(chan *acp.Agent, 1)
			handled := make(chan host.State, 10)
			seat := &host.Seat{OnState: func(s host.State) { handled <- s }}
			go func() {
				a, err := acp.Open(context.Background(), d, seat, never)
				if err != nil {
					t.Error(err)
				}
				got <- a
			}()
			f.greet()
			a := hosttest.Receive(t, "agent", got)
			defer a.Close()
			close(d.from)
			if tt.before {
				f.Say(`{"jsonrpc":"2.0","id":1,"method":"x"}`)
				hosttest.Receive(t, "the first line", d.begun)
			}
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			s, answer := submit(ctx, a, "go")
			if !tt.before {
				hosttest.Receive(t, "the prompt's line", d.begun)
			} else {
				waitBusy(t, a)
				f.chunk("late") // what comes now is of an earlier turn, or made up
				f.update(`{"sessionUpdate":"tool_call","toolCallId":"c","title":"late"}`)
				f.ask("1")
				f.Say(`{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}`)
				f.update(`{"sessionUpdate":"current_mode_update","currentModeId":"x"}`)
				for hosttest.Receive(t, "the last update", handled).Name != acp.StateMode {
				}
			}
			cancel()
			if err := hosttest.Receive(t, "answer", answer); adapter.AnswerOf(err) != tt.answer || !errors.Is(err, tt.reason) {
				t.Errorf("got %v, want %v", err, tt.answer)
			}
			if len(s.Values())+len(s.Ends()) > 0 {
				t.Errorf("got %q and %v, want nothing", s.All(), s.Ends())
			}
		})
	}
}

// waitBusy waits until a prompt that was submitted in the background is under way.
func waitBusy(t *testing.T, a *acp.Agent) {
	t.Helper()
	end := time.After(hosttest.Patience)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !acp.UnderWay(a) {
		select {
		case <-tick.C:
		case <-end:
			t.Fatal("got no prompt under way, want one")
		}
	}
}

var _ host.Decider = (*acp.Agent)(nil)
var _ host.Agent = (*acp.Agent)(nil)
