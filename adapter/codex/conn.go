package codex

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"

	"github.com/docket-go/docket/adapter/host"
)

// maxID bounds the id of a request that is answered.
const maxID = 1 << 10

// A message is whatever a line of the protocol holds.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// A reply is what codex answered to a call: a result or an error.
type reply struct {
	result json.RawMessage
	err    error // an *rpcError, or errTooLong
}

// An rpcError is an error that codex answered with. Its data is not even read.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Codes of JSON-RPC.
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeNoMethod       = -32601
	codeInvalidParams  = -32602
)

var (
	errTooLong = errors.New("codex: the answer is too long to be read")
	errAnswer  = errors.New("codex: the answer makes no sense")
)

// A call is a request that waits for its answer.
type call struct {
	line   *host.Line
	answer func(reply)
}

// A conn is the connection to codex. Everything that comes in is handled by the
// goroutine that reads, in the order of the lines.
type conn struct {
	peer  Peer
	in    *host.Lines
	limit int // of a line, in bytes
	out   *host.Writer
	heard func(method string, params json.RawMessage)                     // a notification
	asked func(id json.RawMessage, method string, params json.RawMessage) // a request
	huge  func()                                                          // a notification too long to read

	mu    sync.Mutex
	calls map[uint64]call
	last  uint64
	cause error
}

func newConn(p Peer, maxLine int) *conn {
	c := &conn{peer: p, in: host.NewLines(p, maxLine), limit: maxLine, calls: map[uint64]call{}}
	c.out = host.NewWriter(p, c.lose)
	return c
}

// run reads until the connection ends, ends the program, and returns why. Every
// call that is left gets its answer from whoever waits for it.
func (c *conn) run(ended func()) error {
	wrote := make(chan struct{})
	go func() { c.out.Run(); close(wrote) }()
	err := c.read()
	if said, can := c.peer.(interface{ Err() error }); can && said.Err() != nil {
		err = said.Err()
	}
	c.lose(err)
	c.out.Close(err)
	ended()
	_ = c.peer.Close()
	<-wrote
	return c.why()
}

// lose ends the connection. The first reason stands.
func (c *conn) lose(err error) {
	c.mu.Lock()
	first := c.cause == nil
	if first {
		c.cause = err
	}
	c.mu.Unlock()
	if first {
		go c.peer.Close()
	}
}

func (c *conn) why() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cause
}

func (c *conn) read() error {
	for {
		line, whole, err := c.in.Next()
		switch {
		case err != nil:
			return fmt.Errorf("codex: the program closed its output: %w", err)
		case whole:
			c.take(line)
		case !c.skip(headOf(line)):
			return fmt.Errorf("codex: the program sent a line of more than %d bytes", c.limit)
		}
	}
}

// take handles one line. What is no message is passed over.
func (c *conn) take(line []byte) {
	var m message
	if json.Unmarshal(line, &m) != nil || len(m.ID) > maxID {
		return
	}
	switch {
	case m.Method == "":
		r := reply{result: m.Result}
		if m.Error != nil && !bytes.Equal(m.Error, []byte("null")) {
			said := &rpcError{}
			_ = json.Unmarshal(m.Error, said) // an error without a code is one, too
			r.err = said
		}
		c.answered(m.ID, r)
	case m.ID == nil:
		c.heard(m.Method, m.Params)
	default:
		c.asked(m.ID, m.Method, m.Params)
	}
}

// skip passes over a message that is too long, and reports whether nothing hangs on it.
func (c *conn) skip(m message) bool {
	switch {
	case len(m.ID) > maxID || (m.Method == "" && m.ID == nil) || m.Method == noteTurnCompleted:
		return false
	case m.Method == "":
		c.answered(m.ID, reply{err: errTooLong})
	case m.ID == nil:
		c.huge()
	default:
		c.refuse(bytes.Clone(m.ID), codeInvalidRequest, "too long")
	}
	return true
}

// answered gives an answer to the call that it answers. One that answers none, or
// one a second time, or what was not yet asked, is passed over.
func (c *conn) answered(raw json.RawMessage, r reply) {
	id, err := strconv.ParseUint(string(raw), 10, 64)
	if err != nil {
		return
	}
	c.mu.Lock()
	asked, waits := c.calls[id]
	if waits = waits && c.out.Begun(asked.line); waits {
		delete(c.calls, id)
	}
	c.mu.Unlock()
	if waits {
		asked.answer(r)
	}
}

// call sends a request. The reading goroutine calls answer, at most once.
func (c *conn) call(method string, params any, answer func(reply)) (*host.Line, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	line, err := encode(map[string]any{"id": c.last, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	sent := c.out.Send(line)
	c.calls[c.last] = call{sent, answer}
	return sent, nil
}

// withdraw takes back a request that was not begun, and reports whether it could.
func (c *conn) withdraw(l *host.Line) bool {
	if !c.out.Withdraw(l) {
		return false
	}
	c.forget(l)
	return true
}

// forget passes over the answer to a request.
func (c *conn) forget(l *host.Line) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.calls, func(_ uint64, asked call) bool { return asked.line == l })
}

// notify sends a notification.
func (c *conn) notify(method string) error {
	line, err := encode(map[string]any{"method": method})
	if err == nil {
		c.out.Send(line)
	}
	return err
}

// answer answers a request of codex.
func (c *conn) answer(id json.RawMessage, result any) *host.Line {
	line, err := encode(map[string]any{"id": id, "result": result})
	if err != nil {
		return c.refuse(id, codeInvalidRequest, "no answer")
	}
	return c.out.Send(line)
}

// refuse answers a request with an error.
func (c *conn) refuse(id json.RawMessage, code int, text string) *host.Line {
	line, err := encode(map[string]any{"id": id, "error": map[string]any{"code": code, "message": text}})
	if err != nil {
		return host.Unsent(err)
	}
	return c.out.Send(line)
}

// encode returns the line of a message. Texts keep their bytes.
func encode(m map[string]any) ([]byte, error) {
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false)
	if err := e.Encode(m); err != nil {
		return nil, fmt.Errorf("codex: %w", err)
	}
	return line.Bytes(), nil
}

// Error says what kind of error codex answered with, and what of its message can be
// kept.
func (e *rpcError) Error() string {
	said := "codex answered with error " + strconv.Itoa(e.Code)
	if text := host.Redact(e.Message); text != "" {
		said += ": " + text
	}
	return said
}

// rejected reports whether the error proves that the request was not carried out.
func (e *rpcError) rejected() bool {
	switch e.Code {
	case codeParse, codeInvalidRequest, codeNoMethod, codeInvalidParams:
		return true
	}
	return false
}

// writing reports whether another process has the thread. The protocol has no code for
// it: a text that changes makes it an error like any other.
func (e *rpcError) writing() bool { return strings.Contains(e.Message, "active writer") }
