package acp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/adapter/host/jsonrpc"
	"github.com/docket-go/docket/lock/step"
)

// Kind is the adapter "acp" for an [adapter.Registry]: it hands prompts to the
// session's host, which runs the agent.
var Kind = host.KindOf("acp", "hands prompts to the session's host, whose agent speaks the Agent Client Protocol")

// Options configures an [Agent]. The zero value is ready to use.
type Options struct {
	// Dir is the working directory that the agent is told. Empty means that of the
	// program, or else of this process.
	Dir string

	// Store keeps the agent's id of its session, so that the session is loaded when
	// the program is started again. [Starter] takes a [FileStore] in the session's
	// directory if it is nil; [Open] makes a new session each time then.
	Store Store

	// Policy decides on requests for permission. Nil has a human asked each time.
	// Nothing is ever granted that neither of them granted.
	Policy Policy

	// ProofAfter is how long a prompt may show no sign before the agent is asked for
	// one. Zero means 2 seconds; a negative value means that it is never asked.
	ProofAfter time.Duration

	// StopGrace is how long an agent may go on with a prompt that was given up as
	// unconfirmed, before it is ended. Zero means 15 seconds; a negative value means
	// that it is ended at once.
	StopGrace time.Duration

	// PieceDelay is how long text is held back so that more can join it. Zero means
	// 500 milliseconds; a negative value means not at all.
	PieceDelay time.Duration

	// PieceBytes is how much text is held back at most. Zero means 4096; a negative
	// value means that none is.
	PieceBytes int

	// MaxLineBytes bounds a line of the agent. A longer update is passed over, any
	// other longer message ends the connection. Zero means 16 MiB; a negative value
	// means no bound.
	MaxLineBytes int
}

func (o Options) withDefaults() (Options, error) {
	o.ProofAfter = cmp.Or(o.ProofAfter, 2*time.Second)
	o.StopGrace = cmp.Or(o.StopGrace, 15*time.Second)
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return o, fmt.Errorf("acp: working directory: %w", err)
	}
	o.Dir = dir
	return o, nil
}

// An Agent is a [host.Agent] and a [host.Decider]: one program that speaks the
// protocol, with one session. Make it with [Open]. It is safe for concurrent use.
type Agent struct {
	options Options
	seat    *host.Seat
	conn    *jsonrpc.Conn
	session string // the agent's id of its session; constant once Open has returned

	mu    sync.Mutex
	state state
}

// Submit hands a prompt to the agent; see [host.Agent].
//
// Nil promises that the agent has it: something came of it, the prompt was answered, or
// a request that was sent behind it was. It is refused while another prompt is
// without its answer ([adapter.ErrBusy]), when the agent is gone ([adapter.ErrGone]),
// when not all of it was written, and when the agent answered, before anything came
// of it, that it does not take it. It is unconfirmed when ctx ended or the agent
// died before any sign. If the process dies inside, nobody knows.
func (a *Agent) Submit(ctx context.Context, p adapter.Prompt, sink host.Sink) error {
	if ctx.Err() != nil {
		return adapter.Refuse(context.Cause(ctx))
	}
	if !utf8.ValidString(p.Text) {
		return adapter.Refuse(errors.New("acp: the text is not valid UTF-8"))
	}
	var t *turn
	var err error
	a.with(func(s *state) { t, err = s.begin(a, p, sink) })
	if err != nil {
		return err
	}
	if err = a.save(); err == nil {
		step.At("adapter/acp: session is stored")
		err = a.send(t, p.Text)
	}
	if err != nil {
		a.with(func(s *state) { s.drop(t, adapter.Refuse(err)) })
		<-t.decided
		return t.answer
	}
	step.At("adapter/acp: prompt is sent")
	return a.await(ctx, t)
}

// send sends the prompt, unless the agent has died meanwhile.
func (a *Agent) send(t *turn, text string) (err error) {
	params := map[string]any{"sessionId": a.session, "prompt": []any{map[string]any{"type": "text", "text": text}}}
	a.with(func(s *state) {
		if s.err != nil {
			err = adapter.Because(adapter.ErrGone, s.err)
		} else {
			t.line, err = a.conn.Call(methodPrompt, params, func(r jsonrpc.Answer) { a.with(func(s *state) { s.answered(t, r) }) })
		}
		if err == nil && t.interrupted { // the agent had nothing to stop when it was told
			s.cancel(t)
		}
	})
	return err
}

// drop ends a turn whose prompt was not sent.
func (s *state) drop(t *turn, answer error) {
	t.decide(answer)
	if s.turn == t {
		s.turn = nil
	}
}

// await waits for a sign that the agent has the prompt.
func (a *Agent) await(ctx context.Context, t *turn) error {
	var proof <-chan time.Time
	if a.options.ProofAfter > 0 {
		timer := time.NewTimer(a.options.ProofAfter)
		defer timer.Stop()
		proof = timer.C
	}
	for {
		select {
		case <-t.decided:
			return t.answer
		case <-proof:
			proof = nil
			a.prove(t)
		case <-ctx.Done():
			a.giveUp(t, context.Cause(ctx))
			<-t.decided
			return t.answer
		}
	}
}

// prove sends a request that every agent has to answer, if only with an error. It
// reads its input in order: an answer proves that it has read the prompt before.
func (a *Agent) prove(t *turn) {
	_, _ = a.conn.Call(methodPing, struct{}{}, func(jsonrpc.Answer) {
		a.with(func(s *state) {
			if s.turn == t {
				s.accept(t)
			}
		})
	})
}

// giveUp ends the wait for a sign.
func (a *Agent) giveUp(t *turn, cause error) {
	withdrawn, unread := a.conn.GiveUp(t.line, cause)
	if withdrawn {
		a.with(func(s *state) { s.drop(t, adapter.Because(adapter.ErrBusy, unread)) })
		return
	}
	a.with(func(s *state) {
		if !t.line.Reached() {
			t.decide(adapter.Because(adapter.ErrGone, unread))
		}
		s.abandon(t, cause)
	})
}

// Interrupt asks the agent to stop its turn, and declines what it asks permission
// for, now and later; see [host.Agent]. Nil means that it was asked.
func (a *Agent) Interrupt(ctx context.Context) error {
	var sent *host.Line
	a.with(func(s *state) {
		if s.turn != nil {
			sent = s.cancel(s.turn)
		}
	})
	if sent == nil {
		return nil
	}
	return sent.Wait(ctx)
}

// Done is closed once the program takes no more prompts; see [host.Agent].
func (a *Agent) Done() <-chan struct{} { return a.conn.Done() }

// Err says why, once Done is closed.
func (a *Agent) Err() error { return a.conn.Err() }

// Close ends the program: by the end of its input, and by force if it does not go.
// It returns when Done is closed.
func (a *Agent) Close() error { return a.conn.Close() }
