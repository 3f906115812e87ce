package codex_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/adaptertest/hosttest"
	"github.com/docket-go/docket/adapter/codex"
	"pgregory.net/rapid"
)

// TestExactlyOneEnd plays a program that does anything at any time against callers that
// do anything at any time: a message that was taken has exactly one end, as the last
// thing, and of every other nothing is emitted.
func TestExactlyOneEnd(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		steps := []string{"answer", "began", "store", "store", "text", "tool", "ask", "complete", "complete twice", "reject", "fail", "junk", "other turn", "wait", "wait"}
		play := rapid.SliceOfN(rapid.SampledFrom(steps), 0, 25).Draw(rt, "program")
		calls := rapid.SliceOfN(rapid.SampledFrom([]string{"submit", "submit", "interrupt", "look", "give up", "wait"}), 1, 12).Draw(rt, "callers")
		dies := rapid.Bool().Draw(rt, "dies")
		f, peer := newFake(t)
		a, err := opened(t, f, peer, codex.Options{PieceDelay: 1, RetryDelay: time.Microsecond, StopGrace: time.Millisecond}, nil, f.greet)
		if err != nil {
			rt.Fatal(err)
		}
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

// anything does what the program does. It answers the last message that it got.
func (f *fake) anything(play []string) {
	last := hosttest.Message{ID: []byte("0")}
	next := func(wait time.Duration) {
		select {
		case m := <-f.In:
			if m.Method == "turn/start" {
				last = m
			}
		case <-time.After(wait):
		}
	}
	for _, step := range play {
		next(0)
		switch step {
		case "answer":
			f.answer(last, `{"turn":{"id":"u-1"}}`)
		case "began":
			f.began()
		case "store":
			f.store(last)
		case "text":
			f.text("x")
		case "tool":
			f.item("item/started", `{"type":"imageView","id":"c"}`)
		case "ask":
			f.ask("3", "commandExecution")
		case "complete twice":
			f.complete("failed")
			f.complete("completed")
		case "complete":
			f.complete("completed")
		case "reject":
			f.fail(last, -32600, "no")
		case "fail":
			f.fail(last, -32603, "no")
		case "junk":
			f.say("junk")
		case "other turn":
			f.completed("u-2", "completed")
		case "wait": // until it is sent something
			next(time.Millisecond)
		}
	}
}

// call does what a caller does.
func (f *fake) call(a *codex.Agent, call string, prompts []hosttest.Prompt) []hosttest.Prompt {
	ctx := context.Background()
	switch call {
	case "submit":
		return append(prompts, hosttest.Submit(ctx, a, adapter.Prompt{MID: fmt.Sprint(len(prompts)), Text: "go"}))
	case "interrupt":
		_ = a.Interrupt(ctx)
	case "look":
		look, done := context.WithTimeout(ctx, time.Millisecond)
		_, _ = a.Lookup(look, "0")
		done()
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

// FuzzProgram lets a program say anything: docket neither panics nor hangs, and a
// message that was taken has one end.
func FuzzProgram(f *testing.F) {
	for _, line := range []string{
		`{"id":4,"result":{"turn":{"id":"u-1"}}}`,
		`{"method":"item/completed","params":{"threadId":"t-1","turnId":"u-1","item":{"type":"userMessage","clientId":"docket-m1"}}}`,
		`{"method":"turn/completed","params":{"threadId":"t-1","turn":{"id":"u-1","status":"completed"}}}`,
		`{"method":"turn/started","params":{"threadId":"t-1","turn":{"id":"u-1"}}}`,
		`{"id":0,"method":"item/permissions/requestApproval","params":{"threadId":"t-1","turnId":"u-1","permissions":{"network":null}}}`,
		`{"method":"thread/tokenUsage/updated","params":{"threadId":"t-1","turnId":"u-1","tokenUsage":{"total":{"totalTokens":1}}}}`,
		`{"error":{"code":-32600,"message":"already has an active writer"},"id":4}`,
	} {
		f.Add([]byte(line), []byte(`{"method":"item/completed","params":{"threadId":"t-1","turnId":"u-1","item":{"type":"agentMessage","text":"x"}}}`))
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		p, a := open(t, codex.Options{MaxLineBytes: 1 << 10, PieceDelay: -1}, nil)
		s, answer := submit(context.Background(), a, "m1")
		start := p.Expect("turn/start")
		p.say("%s", first)
		p.answer(start, `{"turn":{"id":"u-1"}}`)
		p.store(start)
		p.say("%s", second)
		p.Conn.Close()
		err := hosttest.Receive(t, "the answer", answer)
		hosttest.Receive(t, "the end", a.Done())
		if ends := len(s.Ends()); err == nil && ends != 1 || err != nil && ends != 0 {
			t.Errorf("got %d ends after %v", ends, err)
		}
	})
}
