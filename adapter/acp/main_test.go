package acp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/acp"
	"github.com/docket-go/docket/adapter/adaptertest/realagent"
	"github.com/docket-go/docket/adapter/host"
)

// patience bounds every wait for something that must happen.
const patience = time.Minute

func TestMain(m *testing.M) {
	if dir := os.Getenv("ACP_TEST_SAVE"); dir != "" {
		os.Exit(saveAndDie(dir))
	}
	if dir := os.Getenv("ACP_TEST_AGENT"); dir != "" {
		os.Exit(playAgent(dir))
	}
	realagent.Isolate()
	os.Exit(m.Run())
}

// A frame is a message as the agent gets it.
type frame struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct{ Code int }
}

// A fake is an agent without a program. The test plays it line by line.
type fake struct {
	t    testing.TB
	conn net.Conn // the agent's end

	in chan frame // what it was sent, but for requests of proof
	mu sync.Mutex
	// mute leaves requests of proof without an answer.
	mute bool
	// open are the prompts without an answer; nil does not count them.
	open map[string]bool
}

// newFake returns an agent that reads, and the peer that docket sees.
func newFake(t testing.TB) (*fake, net.Conn) {
	ours, theirs := net.Pipe()
	f := &fake{t: t, conn: theirs, in: make(chan frame, 10000)}
	t.Cleanup(func() { theirs.Close(); ours.Close() })
	go f.read(nil)
	return f, ours
}

// read takes what the agent is sent. Requests of proof go to pings, if there is one, and
// are answered otherwise.
func (f *fake) read(pings chan<- frame) {
	defer close(f.in)
	lines := bufio.NewReader(f.conn)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var m frame
		if err := json.Unmarshal(line, &m); err != nil {
			f.t.Errorf("agent: got the line %q, want JSON", line)
			return
		}
		if m.Method != "_docket/ping" {
			f.count(m)
			f.in <- m
			continue
		}
		f.mu.Lock()
		mute := f.mute
		f.mu.Unlock()
		switch {
		case pings != nil:
			pings <- m
		case !mute:
			go f.fail(m.ID, -32601)
		}
	}
}

// count notes a prompt, of which there may be only one.
func (f *fake) count(m frame) {
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

// expect returns the next message, which must have that method; "" is an answer.
func (f *fake) expect(method string) frame {
	f.t.Helper()
	select {
	case m, ok := <-f.in:
		if !ok || m.Method != method {
			f.t.Fatalf("agent: got %q %s (open %v), want %q", m.Method, m.Params, ok, method)
		}
		return m
	case <-time.After(patience):
		f.t.Fatalf("agent: got nothing, want %q", method)
	}
	panic("unreachable")
}

// say sends a line. The error of a connection that has ended is of no account.
func (f *fake) say(line string) { _, _ = f.conn.Write([]byte(line + "\n")) }

// line says a message that is written in several lines here.
func (f *fake) line(message string) { f.say(strings.Join(strings.Fields(message), " ")) }

func (f *fake) answer(id json.RawMessage, result string) {
	f.close(id)
	f.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result))
}

func (f *fake) fail(id json.RawMessage, code int) {
	f.close(id)
	f.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"no luck","data":"PLANTED"}}`, id, code))
}

func (f *fake) update(update string) { f.updateOf("s-1", update) }

func (f *fake) updateOf(session, update string) {
	f.say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":%s}}`, session, update))
}

func (f *fake) chunk(text string) {
	quoted, _ := json.Marshal(text)
	f.update(fmt.Sprintf(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%s}}`, quoted))
}

func (f *fake) stop(prompt frame, reason string) {
	f.answer(prompt.ID, fmt.Sprintf(`{"stopReason":%q}`, reason))
}

// ask asks for permission.
func (f *fake) ask(id string) {
	f.line(fmt.Sprintf(askLine, id))
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
	if err := json.Unmarshal(f.expect("").Result, &r); err != nil {
		f.t.Fatal(err)
	}
	return strings.TrimSuffix(r.Outcome.Outcome+" "+r.Outcome.OptionID, " ")
}

// greet plays the beginning up to a new session.
func (f *fake) greet() {
	f.answer(f.expect("initialize").ID, `{"protocolVersion":1,"agentCapabilities":{"loadSession":true},"agentInfo":{"name":"Fake","version":"7"}}`)
	f.answer(f.expect("session/new").ID, `{"sessionId":"s-1"}`)
}

// open returns an agent that was greeted.
func open(t testing.TB, o acp.Options, seat *host.Seat) (*fake, *acp.Agent) {
	t.Helper()
	f, peer := newFake(t)
	return f, opened(t, f, peer, o, seat, f.greet)
}

func opened(t testing.TB, f *fake, peer net.Conn, o acp.Options, seat *host.Seat, greet func()) *acp.Agent {
	t.Helper()
	type result struct {
		a   *acp.Agent
		err error
	}
	got := make(chan result, 1)
	go func() {
		a, err := acp.Open(context.Background(), peer, seat, o)
		got <- result{a, err}
	}()
	greet()
	r := receive(t, "the opened agent", got)
	if r.err != nil {
		t.Fatal(r.err)
	}
	t.Cleanup(func() { r.a.Close() })
	return r.a
}

// A sink records what comes of a prompt.
type sink struct {
	mu       sync.Mutex
	values   []host.Value
	natives  []host.Native
	finishes []host.Finished
	late     int // calls after the first Finish
	finished chan struct{}
	news     chan struct{}
}

func newSink() *sink { return &sink{finished: make(chan struct{}), news: make(chan struct{}, 1000)} }

func (s *sink) Emit(n host.Native, v host.Value) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.finishes) > 0 {
		s.late++
	}
	s.values = append(s.values, v)
	s.natives = append(s.natives, n)
	select {
	case s.news <- struct{}{}:
	default:
	}
}

func (s *sink) Finish(_ host.Native, f host.Finished) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finishes = append(s.finishes, f)
	if len(s.finishes) == 1 {
		close(s.finished)
	}
}

// all returns the emissions in a form that is easily compared.
func (s *sink) all() (list []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range s.values {
		switch v := v.(type) {
		case host.Text:
			list = append(list, "text "+v.Text)
		case host.Thought:
			list = append(list, "thought "+v.Text)
		case host.Tool:
			list = append(list, fmt.Sprintf("tool %s %q %s %s", v.ID, v.Title, v.Class, v.Status))
		case host.Permission:
			list = append(list, fmt.Sprintf("permission %q %s %v", v.Title, v.State, v.Options))
		case host.Diagnostic:
			list = append(list, fmt.Sprintf("%s %s %s", v.Severity, v.Code, v.Text))
		default:
			list = append(list, fmt.Sprintf("%T %+v", v, v))
		}
	}
	return list
}

// permission waits for a request for permission and returns its id.
func (s *sink) permission(t testing.TB) (id string) {
	t.Helper()
	s.await(t, func() bool {
		for _, v := range s.values {
			if p, asked := v.(host.Permission); asked {
				id = p.ID
			}
		}
		return id != ""
	})
	return id
}

// await waits until something holds of what was emitted.
func (s *sink) await(t testing.TB, holds func() bool) {
	t.Helper()
	end := time.After(patience)
	for {
		s.mu.Lock()
		ok := holds()
		s.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-s.news:
		case <-end:
			t.Fatalf("got %q, want more", s.all())
		}
	}
}

// end waits for the end of the turn.
func (s *sink) end(t testing.TB) host.Finished {
	t.Helper()
	receive(t, "the end of the turn", s.finished)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.finishes) != 1 || s.late != 0 {
		t.Errorf("got the ends %v and %d emissions after them, want one and none", s.finishes, s.late)
	}
	return s.finishes[0]
}

// submit hands over a prompt in the background.
func submit(ctx context.Context, a *acp.Agent, text string) (*sink, chan error) {
	s, answer := newSink(), make(chan error, 1)
	go func() { answer <- a.Submit(ctx, adapter.Prompt{MID: "m-" + text, Text: text}, s) }()
	return s, answer
}

// submitSoon is submit once the agent is free.
func submitSoon(a *acp.Agent, text string) (*sink, chan error) {
	s, answer := newSink(), make(chan error, 1)
	go func() {
		err := adapter.ErrBusy
		for end := time.Now().Add(patience); errors.Is(err, adapter.ErrBusy) && time.Now().Before(end); {
			err = a.Submit(context.Background(), adapter.Prompt{MID: "m-" + text, Text: text}, s)
		}
		answer <- err
	}()
	return s, answer
}

// receive takes a value from a channel, and fails the test if none comes.
func receive[V any](t testing.TB, what string, from <-chan V) V {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		t.Fatalf("%s: got nothing, want it", what)
	}
	panic("unreachable")
}

func equal(t testing.TB, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\ngot  %q\nwant %q", what, got, want)
	}
}
