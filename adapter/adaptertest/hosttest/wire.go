package hosttest

import (
	"bufio"
	"encoding/json"
	"net"
	"strings"
	"testing"
	"time"
)

// A Message is one that a program is sent.
type Message struct {
	ID     json.RawMessage
	Method string // "" of an answer
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct{ Code int }
}

// A Wire is a program's end of a connection in JSON-RPC. The test plays the program line
// by line.
type Wire struct {
	Conn net.Conn
	In   chan Message // what the program is sent; closed at the end

	t testing.TB
}

// NewWire returns the program's end, which reads, and the one that docket sees. A nil
// take has every message go to In; otherwise it gets each, and those go there for which
// it returns true.
func NewWire(t testing.TB, take func(m Message) (in bool)) (w *Wire, peer net.Conn) {
	ours, theirs := net.Pipe()
	w = &Wire{Conn: theirs, In: make(chan Message, 10000), t: t}
	t.Cleanup(func() { theirs.Close(); ours.Close() })
	go w.read(take)
	return w, ours
}

func (w *Wire) read(take func(m Message) bool) {
	defer close(w.In)
	lines := bufio.NewReader(w.Conn)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var m Message
		if err := json.Unmarshal(line, &m); err != nil {
			w.t.Errorf("program: got the line %q, want JSON", line)
			return
		}
		if take == nil || take(m) {
			w.In <- m
		}
	}
}

// Expect returns the next message, which must have that method; "" is an answer.
func (w *Wire) Expect(method string) Message {
	w.t.Helper()
	end := time.NewTimer(Patience)
	defer end.Stop()
	select {
	case m, open := <-w.In:
		if !open || m.Method != method {
			w.t.Fatalf("program: got %q %s %s (open %v), want %q", m.Method, m.Params, m.Result, open, method)
		}
		return m
	case <-end.C:
		w.t.Fatalf("program: got nothing, want %q", method)
	}
	panic("unreachable")
}

// Say sends a message, on one line whatever it is written on. The error of a connection
// that has ended is of no account.
func (w *Wire) Say(message string) {
	_, _ = w.Conn.Write([]byte(strings.ReplaceAll(message, "\n", " ") + "\n"))
}
