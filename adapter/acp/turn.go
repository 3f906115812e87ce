package acp

import (
	"errors"
	"fmt"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/adapter/host/jsonrpc"
)

// Provider is the [host.Native] provider of what this package emits.
const Provider = "acp"

// A turn is one prompt that the agent has or is about to get.
type turn struct {
	a       *Agent
	mid     string
	sink    host.Sink
	line    *host.Line    // the prompt's; nil until it is sent
	decided chan struct{} // closed with the answer of Submit
	answer  error

	interrupted bool
	unread      bool // an update was too long
	silent      bool // Submit did not return nil: nothing goes to the sink any more
	pieces      *host.Pieces
	tools       map[string]*tool
	asks        map[string]*ask
}

// A state is what an agent changes under its mutex: see [Agent.with].
type state struct {
	turn    *turn // the one whose prompt is not answered yet, or nil
	saved   bool  // the session's id is stored
	updates int   // of this session, ever
	notice  *host.Diagnostic
	err     error // why no prompt is taken any more
}

// with runs do on the agent's state, alone. Whoever has a *state is inside.
func (a *Agent) with(do func(s *state)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	do(&a.state)
}

// begin makes the turn of a prompt. The error is a refusal.
func (s *state) begin(a *Agent, p adapter.Prompt, sink host.Sink) (*turn, error) {
	switch {
	case s.err != nil:
		return nil, adapter.Because(adapter.ErrGone, s.err)
	case s.turn != nil:
		return nil, adapter.Because(adapter.ErrBusy, fmt.Errorf("acp: the agent is at work on message %s", s.turn.mid))
	}
	s.turn = &turn{a: a, mid: p.MID, sink: sink, decided: make(chan struct{}), tools: map[string]*tool{}, asks: map[string]*ask{}}
	s.turn.pieces = host.NewPieces(host.PieceOptions{Delay: a.options.PieceDelay, SizeBytes: a.options.PieceBytes}, s.turn.emit,
		func(do func()) { a.with(func(*state) { do() }) })
	return s.turn, nil
}

// sent reports whether the agent can have any of the prompt. What comes before that
// is left over from an earlier turn.
func (t *turn) sent() bool { return t.line != nil && t.a.conn.Begun(t.line) }

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

// accept notes that the agent provably has the prompt.
func (s *state) accept(t *turn) {
	t.decide(nil)
	if t.silent {
		return
	}
	if s.notice != nil {
		t.emit("", *s.notice)
		s.notice = nil
	}
}

// emit hands a value to the sink.
func (t *turn) emit(item string, v host.Value) {
	if !t.silent {
		t.sink.Emit(t.native(item), v)
	}
}

func (t *turn) native(item string) host.Native {
	return host.Native{Provider: Provider, Session: t.a.session, Item: item}
}

// answered ends the turn whose prompt the agent has answered. If the answer is the
// first that comes of the prompt and says that it was not carried out, Submit
// refuses.
func (s *state) answered(t *turn, r jsonrpc.Answer) {
	if s.turn != t {
		return
	}
	if said, is := agentErrorIn(r.Err); is && said.rejected() {
		reason := adapter.ErrRefused
		if said.login() {
			reason = adapter.ErrBlocked
		}
		t.decide(adapter.Because(reason, said))
	} else {
		s.accept(t)
	}
	f, usage := finishedBy(r, t.interrupted)
	s.finish(t, f, usage)
}

// finish ends the turn: its requests for permission are answered with a refusal, what
// was held back is emitted, and the end is the last that the sink gets.
func (s *state) finish(t *turn, f host.Finished, usage *host.Usage) {
	t.refuseAll()
	t.pieces.Flush()
	if usage != nil {
		t.emit("", *usage)
	}
	if !t.silent {
		t.sink.Finish(t.native(""), f)
	}
	t.silent = true
	s.turn = nil
}

// died notes that the output of the agent has ended.
func (s *state) died(err error) {
	s.err = err
	if s.turn != nil {
		s.turn.pieces.Flush()
	}
}

// buried ends the turn that an agent left open whose program is gone. It waits for
// that so that whoever learns of the end can have the program started again at once,
// and because only then it is known how much of the prompt was written.
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
	s.finish(t, host.Finished{Outcome: host.Interrupted, Code: host.CodeAgentExited, Diagnostic: err.Error()}, nil)
}

// abandon gives up a prompt of which nothing is known when its time is over. The
// agent is asked to stop, and ended if it does not, so that it can come to nothing
// behind everybody's back.
func (s *state) abandon(t *turn, cause error) {
	select {
	case <-t.decided:
		return
	default:
	}
	t.decide(adapter.Unconfirm(fmt.Errorf("acp: the agent showed no sign of the message in time: %w", cause)))
	if s.turn != t {
		return
	}
	s.cancel(t)
	time.AfterFunc(t.a.options.StopGrace, func() {
		t.a.with(func(s *state) {
			if s.turn == t {
				t.a.conn.Lose(errors.New("acp: the agent did not stop when it was told to"))
			}
		})
	})
}

// cancel asks the agent to stop, and refuses what it asks for.
func (s *state) cancel(t *turn) *host.Line {
	t.interrupted = true
	sent, _ := t.a.conn.Notify(methodCancel, map[string]any{"sessionId": t.a.session}) // an id always encodes
	t.refuseAll()
	return sent
}
