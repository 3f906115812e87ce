package jsonrpc_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/adapter/host/jsonrpc"
)

// patience bounds every wait for something that must happen.
const patience = time.Minute

// A talk is a connection whose program the test plays.
type talk struct {
	t    testing.TB
	conn *jsonrpc.Conn
	far  net.Conn // the program's end
	got  *bufio.Reader

	mu    sync.Mutex
	heard []string // what the handler was told, in order
}

// start serves a connection. It passes over notifications that are too long.
func start(t testing.TB, o jsonrpc.Options) *talk {
	t.Helper()
	ours, theirs := net.Pipe()
	return startOn(t, o, ours, theirs)
}

func startOn(t testing.TB, o jsonrpc.Options, peer jsonrpc.Peer, far net.Conn) *talk {
	t.Helper()
	o.Name = "test: the program"
	k := &talk{t: t, far: far, got: bufio.NewReader(far)}
	k.conn = jsonrpc.NewConn(peer, jsonrpc.Handler{
		Notified: func(method string, params json.RawMessage) { k.note("notified", method, string(params)) },
		Asked: func(id json.RawMessage, method string, params json.RawMessage) {
			k.note("asked", string(id), method, string(params))
		},
		TooLong: func(id json.RawMessage, method string) bool {
			k.note("too long", string(id), method)
			return method != "end"
		},
		Ended: func(err error) { k.note("ended", err.Error()) },
		Gone:  func(err error) { k.note("gone", err.Error()) },
	}, o)
	go k.conn.Serve()
	t.Cleanup(func() { far.Close(); k.conn.Close() })
	return k
}

func (k *talk) note(words ...string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.heard = append(k.heard, strings.TrimSpace(strings.Join(words, " ")))
}

// say sends lines.
func (k *talk) say(lines ...string) {
	for _, line := range lines {
		_, _ = io.WriteString(k.far, line+"\n")
	}
}

// next returns the next line that the program gets.
func (k *talk) next() string {
	k.t.Helper()
	_ = k.far.SetReadDeadline(time.Now().Add(patience))
	line, err := k.got.ReadString('\n')
	if err != nil {
		k.t.Fatalf("program: got %q, %v, want a line", line, err)
	}
	return strings.TrimSuffix(line, "\n")
}

// call sends a request, and notes its answer.
func (k *talk) call(method string) *host.Line {
	k.t.Helper()
	line, err := k.conn.Call(method, struct{}{}, func(a jsonrpc.Answer) {
		k.note("answered", method, string(a.Result), fmt.Sprint(a.Err))
	})
	if err != nil {
		k.t.Fatal(err)
	}
	return line
}

// done waits for the end, and compares what the handler was told.
func (k *talk) done(want ...string) {
	k.t.Helper()
	select {
	case <-k.conn.Done():
	case <-time.After(patience):
		k.t.Fatal("got no end, want it")
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !slices.Equal(k.heard, want) {
		k.t.Errorf("got\n%s\nwant\n%s", strings.Join(k.heard, "\n"), strings.Join(want, "\n"))
	}
}

const (
	eof   = "test: the program closed its output: EOF"
	ended = "ended " + eof
	gone  = "gone " + eof
)

// TestOrder has the program say everything before it reads any more.
func TestOrder(t *testing.T) {
	k := start(t, jsonrpc.Options{})
	k.call("first")
	if got, want := k.next(), `{"id":1,"jsonrpc":"2.0","method":"first","params":{}}`; got != want {
		t.Errorf("program: got %s, want %s", got, want)
	}
	k.say(`{"method":"news","params":[1]}`, `no JSON`, `[]`, `{"id":"`+strings.Repeat("x", 2000)+`","method":"who"}`, `{"id":1,"result":{"a":1}}`, `{"id":"x","method":"may I","params":{}}`, `{"method":"more"}`)
	k.far.Close()
	k.done(`notified news [1]`, `answered first {"a":1} <nil>`, `asked "x" may I {}`, `notified more`, ended, gone)
	if err := k.conn.Err(); err == nil || err.Error() != eof || !errors.Is(err, io.EOF) {
		t.Errorf("got %v, want %s", err, eof)
	}
}

// TestAnswers has the program answer what was asked, what was not, and twice.
func TestAnswers(t *testing.T) {
	k := start(t, jsonrpc.Options{Bare: true})
	for _, method := range []string{"a", "b", "c", "d"} {
		k.call(method)
		k.next()
	}
	k.say(`{"id":9,"result":1}`, `{"id":5,"result":1}`, `{"id":"1","result":1}`, `{"id":null,"result":1}`, `{"result":1}`, // none of these
		`{"id":2,"error":{"code":-32602,"message":"no /secret/path"}}`, `{"id":2,"result":1}`,
		`{"id":1,"error":null,"result":1}`, `{"id":1,"result":2}`,
		`{"id":3,"error":"odd"}`, `{"id":4}`)
	k.call("e")
	k.next()
	k.far.Close()
	k.done("answered b  error -32602: no …", "answered a 1 <nil>", "answered c  error 0", "answered d  <nil>", ended, gone)
}

// TestWhatIsSent is one line a message, whose texts keep their bytes.
func TestWhatIsSent(t *testing.T) {
	k := start(t, jsonrpc.Options{Bare: true})
	for _, tt := range []struct {
		send func() *host.Line
		want string
	}{
		{func() *host.Line { l, _ := k.conn.Notify("bare", nil); return l }, `{"method":"bare"}`},
		{func() *host.Line { l, _ := k.conn.Notify("full", "<&>\n"); return l }, `{"method":"full","params":"<&>\n"}`},
		{func() *host.Line { return k.conn.Answer(json.RawMessage(`"q"`), 1) }, `{"id":"q","result":1}`},
		{func() *host.Line { return k.conn.Answer(json.RawMessage(`7`), func() {}) }, `{"error":{"code":-32600,"message":"no answer"},"id":7}`},
		{func() *host.Line { return k.conn.Refuse(json.RawMessage(`8`), jsonrpc.CodeNoMethod, "no") }, `{"error":{"code":-32601,"message":"no"},"id":8}`},
	} {
		sent := tt.send()
		if got := k.next(); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
		if err := sent.Wait(t.Context()); err != nil || !k.conn.Begun(sent) {
			t.Errorf("%s: got %v, want it sent", tt.want, err)
		}
	}
	if _, err := k.conn.Notify("x", func() {}); err == nil {
		t.Error("got params that are no JSON sent, want an error")
	}
	if _, err := k.conn.Call("x", func() {}, nil); err == nil {
		t.Error("got params that are no JSON sent, want an error")
	}
}

// TestTooLong passes over what may be, and whoever waits for it learns so.
func TestTooLong(t *testing.T) {
	long := strings.Repeat("x", 200)
	k := start(t, jsonrpc.Options{MaxLineBytes: 100})
	k.call("a")
	k.next()
	k.say(`{"method":"news","params":"` + long + `"}`)
	k.say(`{"id":1,"result":"` + long + `"}`)
	k.say(`{"id":"q","method":"may I","params":"` + long + `"}`)
	if got, want := k.next(), `{"error":{"code":-32600,"message":"too long"},"id":"q","jsonrpc":"2.0"}`; got != want {
		t.Errorf("program: got %s, want %s", got, want)
	}
	k.say(`{"method":"end","params":"` + long + `"}`)
	const over = "test: the program sent a line of more than 100 bytes"
	k.done("too long  news", "too long 1", "answered a  "+jsonrpc.ErrTooLong.Error(), `too long "q" may I`, "too long  end", "ended "+over, "gone "+over)
}

// TestTooLongForAnything ends the connection when nobody can say what it was.
func TestTooLongForAnything(t *testing.T) {
	for name, line := range map[string]string{
		"no name at the beginning": `{"params":"` + strings.Repeat("x", 10_000) + `","method":"news"}`,
		"no JSON":                  strings.Repeat("x", 10_000),
		"an endless id":            `{"id":"` + strings.Repeat("x", 2000) + `","method":"news"}` + strings.Repeat(" ", 10_000),
	} {
		k := start(t, jsonrpc.Options{MaxLineBytes: 5000})
		k.say(line)
		const over = "test: the program sent a line of more than 5000 bytes"
		t.Run(name, func(*testing.T) { k.done("ended "+over, "gone "+over) })
	}
}

// TestNoBound reads a line of any length.
func TestNoBound(t *testing.T) {
	k := start(t, jsonrpc.Options{MaxLineBytes: -1})
	k.say(`{"method":"news"` + strings.Repeat(" ", 17<<20) + `}`)
	k.far.Close()
	k.done("notified news", ended, gone)
}

func TestAsk(t *testing.T) {
	k := start(t, jsonrpc.Options{})
	for _, tt := range []struct {
		answer string
		want   string // of the error
		is     error
	}{
		{`"result":"fine"`, "", nil},
		{`"result":5`, "m: " + jsonrpc.ErrAnswer.Error(), jsonrpc.ErrAnswer},
		{`"error":{"code":-32601,"message":"what"}`, "m: error -32601: what", nil},
	} {
		got := make(chan error, 1)
		var result string
		go func() { got <- k.conn.Ask(t.Context(), "m", nil, &result) }()
		var asked struct{ ID json.Number }
		if err := json.Unmarshal([]byte(k.next()), &asked); err != nil {
			t.Fatal(err)
		}
		k.say(fmt.Sprintf(`{"id":%s,%s}`, asked.ID, tt.answer))
		err := <-got
		if tt.want == "" && (err != nil || result != "fine") || tt.want != "" && (err == nil || err.Error() != tt.want) || tt.is != nil && !errors.Is(err, tt.is) {
			t.Errorf("%s: got %q, %v, want %q", tt.answer, result, err, tt.want)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	got := make(chan error, 2)
	go func() { got <- k.conn.Ask(ctx, "m", nil, new(any)) }()
	k.next()
	enough := errors.New("enough")
	cancel(enough)
	if err := <-got; !errors.Is(err, enough) || !strings.HasPrefix(err.Error(), "m: no answer") {
		t.Errorf("got %v, want %v", err, enough)
	}
	k.say(`{"id":4,"result":1}`) // nobody waits any more
	go func() { got <- k.conn.Ask(t.Context(), "m", nil, new(any)) }()
	k.next()
	k.far.Close()
	if err := <-got; !errors.Is(err, io.EOF) || !strings.HasPrefix(err.Error(), "m: test: ") {
		t.Errorf("got %v, want that the output is closed", err)
	}
}

// A slow peer takes what it is sent by steps.
type slow struct {
	net.Conn
	takes   chan int // bytes that the next Write takes; it waits for that
	closing sync.Once
	closed  chan struct{}
}

func (s *slow) Write(b []byte) (int, error) {
	select {
	case n := <-s.takes:
		if n < len(b) {
			<-s.closed
			return n, io.ErrClosedPipe
		}
		return len(b), nil
	case <-s.closed:
		return 0, io.ErrClosedPipe
	}
}

func (s *slow) Close() error {
	s.closing.Do(func() { close(s.closed) })
	return s.Conn.Close()
}

// TestGiveUp takes back what was not begun, and loses the connection over half a line.
func TestGiveUp(t *testing.T) {
	ours, theirs := net.Pipe()
	s := &slow{Conn: ours, takes: make(chan int, 1), closed: make(chan struct{})}
	k := startOn(t, jsonrpc.Options{}, s, theirs)
	late := errors.New("late")
	first := k.call("first")
	for !k.conn.Begun(first) {
		<-time.After(time.Millisecond)
	}
	behind := k.call("behind")
	k.say(`{"id":2,"result":"to what was not asked yet"}`)
	withdrawn, err := k.conn.GiveUp(behind, late)
	if want := "test: the program does not read what it is sent: late"; !withdrawn || !errors.Is(err, late) || err.Error() != want || behind.Reached() {
		t.Errorf("behind: got %v, %v, want it taken back and %s", withdrawn, err, want)
	}
	if n := jsonrpc.Waiting(k.conn); n != 1 {
		t.Errorf("got %d requests that wait for an answer, want the first alone", n)
	}
	s.takes <- 5
	withdrawn, err = k.conn.GiveUp(first, late)
	if withdrawn || !errors.Is(err, late) || first.Reached() {
		t.Errorf("half: got %v, %v, reached %v, want that half of it was written", withdrawn, err, first.Reached())
	}
	k.done("ended "+err.Error(), "gone "+err.Error())
}

// TestWrittenInTime is not given up.
func TestWrittenInTime(t *testing.T) {
	k := start(t, jsonrpc.Options{})
	line := k.call("a")
	k.next()
	if err := line.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if withdrawn, _ := k.conn.GiveUp(line, errors.New("late")); withdrawn || !line.Reached() || k.conn.Cause() != nil {
		t.Errorf("got withdrawn %v, reached %v, cause %v, want a good connection", withdrawn, line.Reached(), k.conn.Cause())
	}
}

// TestClose gives the first reason that there was, to everybody.
func TestClose(t *testing.T) {
	k := start(t, jsonrpc.Options{})
	if err := errors.Join(k.conn.Err(), k.conn.Cause()); err != nil {
		t.Errorf("while it is good: got %v, want nil", err)
	}
	var closing sync.WaitGroup
	for range 3 {
		closing.Go(func() { _ = k.conn.Close() })
	}
	closing.Wait()
	k.conn.Lose(errors.New("later"))
	const told = "test: the program was told to end"
	if err := k.conn.Err(); err == nil || err.Error() != told {
		t.Errorf("got %v, want %s", err, told)
	}
	if sent, err := k.conn.Notify("x", nil); err != nil || sent.Wait(t.Context()) == nil || sent.Reached() {
		t.Errorf("afterwards: got %v, want a line that was not sent", err)
	}
	k.done("ended "+told, "gone "+told)
}

// A mortal peer says how it ended.
type mortal struct {
	net.Conn
	done chan struct{}
}

func (m mortal) Done() <-chan struct{} { return m.done }
func (m mortal) Err() error            { return errors.New("exit status 3") }

// TestProgramThatSaysHowItEnded is believed more than the end of its output.
func TestProgramThatSaysHowItEnded(t *testing.T) {
	ours, theirs := net.Pipe()
	done := make(chan struct{})
	close(done)
	k := startOn(t, jsonrpc.Options{}, mortal{ours, done}, theirs)
	theirs.Close()
	k.done("ended exit status 3", "gone exit status 3")
}
