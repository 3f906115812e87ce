package codex_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/adaptertest/hosttest"
	"github.com/docket-go/docket/adapter/adaptertest/realagent"
	"github.com/docket-go/docket/adapter/codex"
	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/adapter/host/jsonrpc"
)

func TestMain(m *testing.M) {
	if part, plays := parts[os.Getenv("CODEX_TEST_PART")]; plays {
		os.Exit(part())
	}
	realagent.Isolate()
	os.Exit(m.Run())
}

// parts are what the test binary is started again for.
var parts = map[string]func() int{}

// A fake is codex without a program. The test plays it line by line.
type fake struct {
	*hosttest.Wire
	t testing.TB
}

// newFake returns a program that reads, and the peer that docket sees.
func newFake(t testing.TB) (*fake, net.Conn) {
	wire, peer := hosttest.NewWire(t, nil)
	return &fake{wire, t}, peer
}

// say sends a message.
func (f *fake) say(format string, args ...any) { f.Say(fmt.Sprintf(format, args...)) }

func (f *fake) answer(m hosttest.Message, result string) {
	f.say(`{"id":%s,"result":%s}`, m.ID, result)
}

func (f *fake) fail(m hosttest.Message, code int, text string) {
	f.say(`{"error":{"code":%d,"message":%q,"data":"PLANTED"},"id":%s}`, code, text, m.ID)
}

// note sends a notification about the thread t-1; fields begin with a comma.
func (f *fake) note(method, fields string) {
	f.say(`{"method":%q,"params":{"threadId":"t-1"%s}}`, method, fields)
}

// item sends an item of the turn u-1.
func (f *fake) item(method, item string) {
	f.note(method, `,"turnId":"u-1","item":`+item)
}

func (f *fake) began() { f.note("turn/started", `,"turn":{"id":"u-1","status":"inProgress"}`) }

// store says that the message of a request is stored.
func (f *fake) store(start hosttest.Message) {
	f.item("item/completed", fmt.Sprintf(`{"type":"userMessage","id":"i-1","clientId":%q,"content":[{"type":"text","text":"PLANTED"}]}`, client(start)))
}

// client returns the id that a message was sent with.
func client(start hosttest.Message) string {
	var p struct{ ClientUserMessageID string }
	_ = json.Unmarshal(start.Params, &p)
	return p.ClientUserMessageID
}

func (f *fake) text(text string) {
	f.item("item/completed", fmt.Sprintf(`{"type":"agentMessage","id":"i-2","text":%q}`, text))
}

func (f *fake) complete(status string) { f.completed("u-1", status) }

func (f *fake) completed(turn, status string) {
	f.note("turn/completed", fmt.Sprintf(`,"turn":{"id":%q,"status":%q,"items":[{"text":"PLANTED"}]}`, turn, status))
}

// take plays codex up to the stored message.
func (f *fake) take() hosttest.Message {
	f.t.Helper()
	start := f.Expect("turn/start")
	f.answer(start, `{"turn":{"id":"u-1","status":"inProgress"}}`)
	f.began()
	f.store(start)
	return start
}

// ask asks for permission.
func (f *fake) ask(id, kind string) {
	f.say(askLine, id, kind)
}

const askLine = `{"id":%s,"method":"item/%s/requestApproval","params":{"threadId":"t-1","turnId":"u-1","itemId":"i-3","reason":"PLANTED",
	"command":"/bin/bash -lc 'PLANTED=1 curl PLANTED'","cwd":"/PLANTED","commandActions":[{"type":"unknown","command":"/usr/bin/curl PLANTED"}],
	"permissions":{"network":{"enabled":true},"fileSystem":null},
	"availableDecisions":["accept",{"acceptWithExecpolicyAmendment":{"execpolicy_amendment":["PLANTED"]}},"cancel"]}}`

// decision returns what a request for permission was answered with.
func (f *fake) decision() string {
	f.t.Helper()
	m := f.Expect("")
	if m.Error != nil {
		return fmt.Sprint("error ", m.Error.Code)
	}
	var r struct{ Decision string }
	if err := json.Unmarshal(m.Result, &r); err != nil {
		f.t.Fatal(err)
	}
	if r.Decision == "" {
		return string(m.Result)
	}
	return r.Decision
}

const (
	hello   = `{"userAgent":"docket/0.171.0 (Debian)","codexHome":"/h/.codex"}`
	madeOne = `{"thread":{"id":"t-1","status":{"type":"idle"}},"model":"stub"}`
	noTurns = `{"data":[],"nextCursor":null}`
)

// greet plays the beginning up to a new thread.
func (f *fake) greet() {
	f.answer(f.Expect("initialize"), hello)
	f.Expect("initialized")
	f.answer(f.Expect("thread/start"), madeOne)
	f.answer(f.Expect("thread/name/set"), `{}`)
	f.answer(f.Expect("thread/turns/list"), noTurns)
}

// whole emits each piece as it comes.
var whole = codex.Options{PieceDelay: -1, RetryDelay: time.Millisecond, StopGrace: time.Minute}

// open returns an agent that was greeted.
func open(t testing.TB, o codex.Options, seat *host.Seat) (*fake, *codex.Agent) {
	t.Helper()
	f, peer := newFake(t)
	a, err := opened(t, f, peer, o, seat, f.greet)
	if err != nil {
		t.Fatal(err)
	}
	return f, a
}

func opened(t testing.TB, f *fake, peer jsonrpc.Peer, o codex.Options, seat *host.Seat, greet func()) (*codex.Agent, error) {
	t.Helper()
	return hosttest.Opened(t, func() (*codex.Agent, error) { return codex.Open(context.Background(), peer, seat, o) }, greet)
}

// submit hands over a prompt in the background. Its mid is its text.
func submit(ctx context.Context, a *codex.Agent, text string) (*hosttest.Sink, chan error) {
	p := hosttest.Submit(ctx, a, adapter.Prompt{MID: text, Text: text})
	return p.Sink, p.Answer
}

// taken hands over a prompt that the fake takes.
func taken(t testing.TB, f *fake, a *codex.Agent, text string) *hosttest.Sink {
	t.Helper()
	s, answer := submit(context.Background(), a, text)
	f.take()
	if err := hosttest.Receive(t, "the answer", answer); err != nil {
		t.Fatal(err)
	}
	return s
}

// A stuckPeer does not read any more once stuck is closed, and tells of each line of
// which it is sent something then.
type stuckPeer struct {
	net.Conn
	stuck chan struct{}
	begun chan struct{}
}

func (p stuckPeer) Write(b []byte) (int, error) {
	select {
	case <-p.stuck:
		p.begun <- struct{}{}
		_, err := p.Conn.Read(make([]byte, 1)) // returns at the end
		return 0, err
	default:
		return p.Conn.Write(b)
	}
}
