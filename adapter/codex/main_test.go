package codex_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/adaptertest/realagent"
	"github.com/docket-go/docket/adapter/codex"
	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/adapter/host/jsonrpc"
)

// patience bounds every wait for something that must happen.
const patience = time.Minute

func TestMain(m *testing.M) {
	if part, plays := parts[os.Getenv("CODEX_TEST_PART")]; plays {
		os.Exit(part())
	}
	realagent.Isolate()
	os.Exit(m.Run())
}

// parts are what the test binary is started again for.
var parts = map[string]func() int{}

// A frame is a message as codex gets it.
type frame struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct{ Code int }
}

// A fake is codex without a program. The test plays it line by line.
type fake struct {
	t    testing.TB
	conn net.Conn // codex's end
	in   chan frame
}

// newFake returns a program that reads, and the peer that docket sees.
func newFake(t testing.TB) (*fake, net.Conn) {
	ours, theirs := net.Pipe()
	f := &fake{t: t, conn: theirs, in: make(chan frame, 10000)}
	t.Cleanup(func() { theirs.Close(); ours.Close() })
	go f.read()
	return f, ours
}

func (f *fake) read() {
	defer close(f.in)
	lines := bufio.NewReader(f.conn)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var m frame
		if err := json.Unmarshal(line, &m); err != nil {
			f.t.Errorf("codex: got the line %q, want JSON", line)
			return
		}
		f.in <- m
	}
}

// expect returns the next message, which must have that method; "" is an answer.
func (f *fake) expect(method string) frame {
	f.t.Helper()
	select {
	case m, ok := <-f.in:
		if !ok || m.Method != method {
			f.t.Fatalf("codex: got %q %s %s (open %v), want %q", m.Method, m.Params, m.Result, ok, method)
		}
		return m
	case <-time.After(patience):
		f.t.Fatalf("codex: got nothing, want %q", method)
	}
	panic("unreachable")
}

// say sends a message. The error of a connection that has ended is of no account.
func (f *fake) say(format string, args ...any) {
	_, _ = f.conn.Write([]byte(strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", " ") + "\n"))
}

func (f *fake) answer(m frame, result string) { f.say(`{"id":%s,"result":%s}`, m.ID, result) }

func (f *fake) fail(m frame, code int, text string) {
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
func (f *fake) store(start frame) {
	f.item("item/completed", fmt.Sprintf(`{"type":"userMessage","id":"i-1","clientId":%q,"content":[{"type":"text","text":"PLANTED"}]}`, client(start)))
}

// client returns the id that a message was sent with.
func client(start frame) string {
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
func (f *fake) take() frame {
	f.t.Helper()
	start := f.expect("turn/start")
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
	m := f.expect("")
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
	f.answer(f.expect("initialize"), hello)
	f.expect("initialized")
	f.answer(f.expect("thread/start"), madeOne)
	f.answer(f.expect("thread/name/set"), `{}`)
	f.answer(f.expect("thread/turns/list"), noTurns)
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
	type result struct {
		a   *codex.Agent
		err error
	}
	got := make(chan result, 1)
	go func() {
		a, err := codex.Open(context.Background(), peer, seat, o)
		got <- result{a, err}
	}()
	greet()
	r := receive(t, "the opened agent", got)
	if r.err == nil {
		t.Cleanup(func() { r.a.Close() })
	}
	return r.a, r.err
}

// submit hands over a prompt in the background. Its mid is its text.
func submit(ctx context.Context, a *codex.Agent, text string) (*sink, chan error) {
	s, answer := newSink(), make(chan error, 1)
	go func() { answer <- a.Submit(ctx, adapter.Prompt{MID: text, Text: text}, s) }()
	return s, answer
}

// taken hands over a prompt that the fake takes.
func taken(t testing.TB, f *fake, a *codex.Agent, text string) *sink {
	t.Helper()
	s, answer := submit(context.Background(), a, text)
	f.take()
	if err := receive(t, "the answer", answer); err != nil {
		t.Fatal(err)
	}
	return s
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

// A stuckPeer does not read any more once stuck is closed.
type stuckPeer struct {
	net.Conn
	stuck chan struct{}
}

func (p stuckPeer) Write(b []byte) (int, error) {
	select {
	case <-p.stuck:
		_, err := p.Conn.Read(make([]byte, 1)) // returns at the end
		return 0, err
	default:
		return p.Conn.Write(b)
	}
}
