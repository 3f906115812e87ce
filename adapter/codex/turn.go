package codex

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/adapter/host/jsonrpc"
)

// Provider is the [host.Native] provider of what this package emits.
const Provider = "codex"

// A turn is one message that codex has or is about to get.
type turn struct {
	a       *Agent
	mid     string
	client  string // the id of the message for codex
	id      string // codex's id of the turn; empty until it is known
	sink    host.Sink
	line    *host.Line    // nil until the message is sent
	decided chan struct{} // closed with the answer of Submit
	answer  error

	begun       bool // codex works on it
	interrupted bool
	retries     int  // of interrupts that came too early
	unread      bool // a notification was too long
	silent      bool // Submit did not return nil: nothing goes to the sink any more
	pieces      *host.Pieces
	said        said
	spent       *spent
	asks        map[string]*ask
}

// A state is what an agent changes under its mutex: see [Agent.with].
type state struct {
	thread  string            // codex's id of the thread; constant once Open has returned
	earlier []string          // threads before it
	known   map[string]string // the client ids of stored messages, with the status of their turns
	turn    *turn             // the one that is not over yet, or nil
	running string            // codex's id of the turn that it works on, whoever began it
	over    completed         // the last turn that was completed since the message was given
	notice  *host.Diagnostic
	err     error // why no prompt is taken any more
}

// with runs do on the agent's state, alone. Whoever has a *state is inside.
func (a *Agent) with(do func(s *state)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	do(&a.state)
}

// begin makes the turn of a prompt. The error is a refusal. A nil turn without an
// error is that of a message which codex has already.
func (s *state) begin(a *Agent, p adapter.Prompt, sink host.Sink) (*turn, error) {
	client := clientID(p.MID)
	switch {
	case s.err != nil:
		return nil, adapter.Because(adapter.ErrGone, s.err)
	case s.turn != nil:
		return nil, adapter.Because(adapter.ErrBusy, fmt.Errorf("codex: the program is at work on message %s", s.turn.mid))
	case s.running != "": // a message would be steered into it
		return nil, adapter.Because(adapter.ErrBusy, errors.New("codex: the program is at work on a turn of its own"))
	}
	t := &turn{a: a, mid: p.MID, client: client, sink: sink, decided: make(chan struct{}), asks: map[string]*ask{}}
	if status, there := s.known[client]; there {
		t.finishRepeated(status)
		return nil, nil
	}
	t.pieces = host.NewPieces(host.PieceOptions{Delay: a.options.PieceDelay, SizeBytes: a.options.PieceBytes}, t.emit,
		func(do func()) { a.with(func(*state) { do() }) })
	s.turn, s.over = t, completed{}
	return t, nil
}

// decide gives Submit its answer. The first stands.
func (t *turn) decide(answer error) {
	select {
	case <-t.decided:
		return
	default:
	}
	t.answer = answer
	t.silent = answer != nil
	close(t.decided)
}

// accepted reports whether codex has stored the message and the sink is to hear of it.
func (t *turn) accepted() bool {
	select {
	case <-t.decided:
		return !t.silent
	default:
		return false
	}
}

// emit hands a value to the sink.
func (t *turn) emit(item string, v host.Value) {
	if t.accepted() {
		t.sink.Emit(t.native(item), v)
	}
}

func (t *turn) native(item string) host.Native {
	return host.Native{Provider: Provider, Session: t.a.state.thread, Turn: t.id, Item: host.Clip(host.Printable(item), maxTitle)}
}

// started handles the answer to the message. A good one does not prove yet that the
// message is stored.
func (s *state) started(t *turn, r jsonrpc.Answer) {
	if s.turn != t {
		return
	}
	var result struct {
		Turn struct {
			ID string `json:"id"`
		} `json:"turn"`
	}
	var said *jsonrpc.Error
	switch {
	case errors.As(r.Err, &said) && said.Rejected() && t.id == "":
		reason := adapter.ErrBlocked
		if writing(said) {
			reason = adapter.ErrBusy
		}
		s.drop(t, adapter.Because(reason, answered(said)))
	case r.Err != nil && t.id == "":
		t.decide(adapter.Unconfirm(answered(r.Err)))
		s.drop(t, nil)
	case r.Err != nil:
	case json.Unmarshal(r.Result, &result) != nil || result.Turn.ID == "":
		s.abandon(t, errAnswer)
	default:
		s.identify(t, result.Turn.ID)
	}
}

// identify notes codex's id of the turn, once.
func (s *state) identify(t *turn, id string) {
	if t.id != "" {
		return
	}
	t.id = id
	if s.running == id {
		s.work(t)
	}
	if s.over.Turn.ID == id {
		s.complete(t, s.over)
	}
}

// accept notes that codex has stored the message.
func (s *state) accept(t *turn, turnID string) {
	t.decide(nil)
	s.identify(t, turnID)
	s.work(t)
	if t.accepted() && s.notice != nil {
		t.emit("", *s.notice)
		s.notice = nil
	}
}

// work notes that codex works on the turn, so that it can be interrupted.
func (s *state) work(t *turn) {
	if t.begun || s.turn != t {
		return
	}
	t.begun = true
	if t.interrupted {
		s.cancel(t)
	}
}

// finish ends the turn: its requests for permission are cancelled, what was held back
// is emitted, and the end is the last that the sink gets.
func (s *state) finish(t *turn, f host.Finished) {
	t.cancelAll()
	t.pieces.Flush()
	if t.accepted() {
		t.sink.Finish(t.native(""), f)
	}
	t.silent = true
	s.turn = nil
}

// died ends the turn of a program whose output has ended.
func (s *state) died(err error) {
	s.err = err
	if t := s.turn; t != nil && t.accepted() {
		s.finish(t, host.Finished{Outcome: host.Interrupted, Code: host.CodeAgentExited, Diagnostic: err.Error()})
	} // whether it had another message is known once nothing is written any more
}

// buried gives the answer to a message that codex left without one.
func (s *state) buried(err error) {
	t := s.turn
	if t == nil {
		return
	}
	if t.line == nil || !t.line.Reached() {
		t.decide(adapter.Because(adapter.ErrGone, err))
	} else {
		t.decide(adapter.Unconfirm(err))
	}
	s.finish(t, host.Finished{})
}

// abandon gives up a message of which nothing is known when its time is over. Codex is
// asked to stop, and ended if it does not, so that it can come to nothing behind
// everybody's back.
func (s *state) abandon(t *turn, cause error) {
	select {
	case <-t.decided:
		return
	default:
	}
	t.decide(adapter.Unconfirm(cause))
	if s.turn != t {
		return
	}
	s.cancel(t)
	time.AfterFunc(t.a.options.StopGrace, func() {
		t.a.with(func(s *state) {
			if s.turn == t {
				t.a.conn.Lose(errors.New("codex: the program did not stop when it was told to"))
			}
		})
	})
}

// maxRetries bounds how often an interrupt is repeated.
const maxRetries = 50

// cancel asks codex to stop, and refuses what it asks for. Codex stops only a turn that
// it has begun, so before that nothing is sent.
func (s *state) cancel(t *turn) *host.Line {
	t.interrupted = true
	t.cancelAll()
	if t.id == "" || !t.begun {
		return nil
	}
	params := map[string]any{"threadId": s.thread, "turnId": t.id}
	sent, _ := t.a.conn.Call(methodInterrupt, params, func(r jsonrpc.Answer) { // ids always encode
		if r.Err != nil {
			time.AfterFunc(t.a.options.RetryDelay, func() { t.a.with(func(s *state) { s.cancelAgain(t) }) })
		}
	})
	return sent
}

func (s *state) cancelAgain(t *turn) {
	if t.retries++; s.turn == t && s.err == nil && t.retries <= maxRetries {
		s.cancel(t)
	}
}
