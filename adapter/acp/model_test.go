package acp_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/acp"
	"github.com/docket-go/docket/adapter/adaptertest/hosttest"
	"pgregory.net/rapid"
)

// TestExactlyOneEnd plays an agent that does anything at any time against callers that
// do anything at any time: a prompt that was taken has exactly one end, as the last
// thing, and of every other nothing is emitted. The agent never has two.
func TestExactlyOneEnd(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		play := rapid.SliceOfN(rapid.SampledFrom([]string{"chunk", "tool", "ask", "stop", "stop twice", "reject", "fail", "junk", "usage", "wait"}), 0, 25).Draw(rt, "agent")
		calls := rapid.SliceOfN(rapid.SampledFrom([]string{"submit", "submit", "interrupt", "decide", "give up", "wait"}), 1, 12).Draw(rt, "callers")
		dies := rapid.Bool().Draw(rt, "dies")
		mute := rapid.Bool().Draw(rt, "mute")
		f, peer := newFake(t)
		f.mute, f.open = mute, map[string]bool{}
		a := opened(t, f, peer, acp.Options{PieceDelay: 1, ProofAfter: time.Microsecond, StopGrace: time.Millisecond}, nil, f.greet)
		var prompts []hosttest.Prompt
		var work sync.WaitGroup
		work.Go(func() {
			f.anything(play)
			if dies {
				f.Conn.Close()
			}
		})
		for _, call := range calls {
			prompts = f.call(a, call, prompts)
		}
		work.Wait()
		if err := a.Close(); err != nil {
			rt.Error(err)
		}
		for i, p := range prompts {
			p.Check(rt, i)
		}
	})
}

// anything does what the agent does. It answers the last prompt that it got.
func (f *fake) anything(play []string) {
	last := hosttest.Message{ID: []byte("0")}
	for _, step := range play {
		select {
		case m, ok := <-f.In:
			if ok && m.Method == "session/prompt" {
				last = m
			}
		default:
		}
		switch step {
		case "chunk":
			f.chunk("x")
		case "tool":
			f.update(`{"sessionUpdate":"tool_call","toolCallId":"c","title":"x"}`)
		case "ask":
			f.ask("3")
		case "stop twice":
			f.stop(last, "max_tokens")
			f.stop(last, "end_turn")
		case "stop":
			f.stop(last, "end_turn")
		case "reject":
			f.fail(last.ID, -32602)
		case "fail":
			f.fail(last.ID, -32603)
		case "junk":
			f.Say("junk")
		case "usage":
			f.update(`{"sessionUpdate":"usage_update","used":1,"size":2}`)
		case "wait": // until it is sent something
			select {
			case m, ok := <-f.In:
				if ok && m.Method == "session/prompt" {
					last = m
				}
			case <-time.After(time.Millisecond):
			}
		}
	}
}

// call does what a caller does.
func (f *fake) call(a *acp.Agent, call string, prompts []hosttest.Prompt) []hosttest.Prompt {
	ctx := context.Background()
	switch call {
	case "submit":
		return append(prompts, hosttest.Submit(ctx, a, adapter.Prompt{MID: fmt.Sprint(len(prompts)), Text: "go"}))
	case "interrupt":
		_ = a.Interrupt(ctx)
	case "decide":
		for _, r := range a.Asked() {
			_ = a.Decide(ctx, r.ID, "yes")
		}
	case "give up":
		if len(prompts) > 0 {
			prompts[len(prompts)-1].Cancel()
		}
	case "wait":
		if len(prompts) > 0 {
			select {
			case <-prompts[len(prompts)-1].Sink.Done():
			case <-time.After(time.Millisecond):
			}
		}
	}
	return prompts
}
