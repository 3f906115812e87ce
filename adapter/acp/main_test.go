package acp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/acp"
	"github.com/docket-go/docket/adapter/adaptertest/hosttest"
	"github.com/docket-go/docket/adapter/adaptertest/realagent"
	"github.com/docket-go/docket/adapter/host"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("ACP_TEST_AGENT"); dir != "" {
		os.Exit(playAgent(dir))
	}
	realagent.Isolate()
	os.Exit(m.Run())
}

// A fake is an agent without a program. The test plays it line by line.
type fake struct {
	*hosttest.Wire // what it was sent, but for requests of proof
	t              testing.TB

	mu sync.Mutex
	// mute leaves requests of proof without an answer, unless pings gets them.
	mute  bool
	pings chan hosttest.Message
	// open are the prompts without an answer; nil does not count them.
	open map[string]bool
}

// newFake returns an agent that reads, and the peer that docket sees.
func newFake(t testing.TB) (*fake, net.Conn) {
	f := &fake{t: t}
	wire, peer := hosttest.NewWire(t, f.take)
	f.Wire = wire
	return f, peer
}

// take reports whether a message is none of the requests of proof, which it answers.
func (f *fake) take(m hosttest.Message) bool {
	f.mu.Lock()
	mute, pings := f.mute, f.pings
	f.mu.Unlock()
	switch {
	case m.Method != "_docket/ping":
		f.count(m)
		return true
	case pings != nil:
		pings <- m
	case !mute:
		go f.fail(m.ID, -32601)
	}
	return false
}

// count notes a prompt, of which there may be only one.
func (f *fake) count(m hosttest.Message) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open == nil || m.Method != "session/prompt" {
		return
	}
	if len(f.open) > 0 {
		f.t.Errorf("agent: got a prompt while %v has no answer", f.open)
	}
	f.open[string(m.ID)] = true
}

// close notes that a prompt is being answered.
func (f *fake) close(id json.RawMessage) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.open, string(id))
}

func (f *fake) answer(id json.RawMessage, result string) {
	f.close(id)
	f.Say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result))
}

func (f *fake) fail(id json.RawMessage, code int) {
	f.close(id)
	f.Say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"no luck","data":"PLANTED"}}`, id, code))
}

func (f *fake) update(update string) { f.updateOf("s-1", update) }

func (f *fake) updateOf(session, update string) {
	f.Say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":%s}}`, session, update))
}

func (f *fake) chunk(text string) {
	quoted, _ := json.Marshal(text)
	f.update(fmt.Sprintf(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%s}}`, quoted))
}

func (f *fake) stop(prompt hosttest.Message, reason string) {
	f.answer(prompt.ID, fmt.Sprintf(`{"stopReason":%q}`, reason))
}

// ask asks for permission.
func (f *fake) ask(id string) {
	f.Say(fmt.Sprintf(askLine, id))
}

const askLine = `{"jsonrpc":"2.0","id":%s,"method":"session/request_permission","params":{"sessionId":"s-1",
	"toolCall":{"toolCallId":"c1","title":"Change settings","kind":"edit","rawInput":{"content":"PLANTED"}},
	"options":[{"optionId":"yes","kind":"allow_once","name":"PLANTED"},{"optionId":"no","kind":"reject_once","name":"No"}]}}`

// outcome returns what a request for permission was answered with.
func (f *fake) outcome() string {
	f.t.Helper()
	var r struct {
		Outcome struct{ Outcome, OptionID string }
	}
	if err := json.Unmarshal(f.Expect("").Result, &r); err != nil {
		f.t.Fatal(err)
	}
	return strings.TrimSuffix(r.Outcome.Outcome+" "+r.Outcome.OptionID, " ")
}

// greet plays the beginning up to a new session.
func (f *fake) greet() {
	f.answer(f.Expect("initialize").ID, `{"protocolVersion":1,"agentCapabilities":{"loadSession":true},"agentInfo":{"name":"Fake","version":"7"}}`)
	f.answer(f.Expect("session/new").ID, `{"sessionId":"s-1"}`)
}

// open returns an agent that was greeted.
func open(t testing.TB, o acp.Options, seat *host.Seat) (*fake, *acp.Agent) {
	t.Helper()
	f, peer := newFake(t)
	return f, opened(t, f, peer, o, seat, f.greet)
}

func opened(t testing.TB, f *fake, peer net.Conn, o acp.Options, seat *host.Seat, greet func()) *acp.Agent {
	t.Helper()
	a, err := hosttest.Opened(t, func() (*acp.Agent, error) { return acp.Open(context.Background(), peer, seat, o) }, greet)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// permission waits for a request for permission and returns the id of the last one.
func permission(t testing.TB, s *hosttest.Sink) (id string) {
	t.Helper()
	s.Await(t, func(values []host.Value) bool {
		for _, v := range values {
			if p, asked := v.(host.Permission); asked {
				id = p.ID
			}
		}
		return id != ""
	})
	return id
}

// submit hands over a prompt in the background.
func submit(ctx context.Context, a *acp.Agent, text string) (*hosttest.Sink, chan error) {
	p := hosttest.Submit(ctx, a, adapter.Prompt{MID: "m-" + text, Text: text})
	return p.Sink, p.Answer
}

// submitSoon is submit once the agent is free.
func submitSoon(a *acp.Agent, text string) (*hosttest.Sink, chan error) {
	s, answer := hosttest.NewSink(), make(chan error, 1)
	go func() {
		err := adapter.ErrBusy
		for end := time.Now().Add(hosttest.Patience); errors.Is(err, adapter.ErrBusy) && time.Now().Before(end); {
			err = a.Submit(context.Background(), adapter.Prompt{MID: "m-" + text, Text: text}, s)
		}
		answer <- err
	}()
	return s, answer
}
