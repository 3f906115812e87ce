package codex

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

// Kind is the adapter "codex" for an [adapter.Registry]: it hands prompts to the
// session's host, which runs codex.
var Kind = host.KindOf("codex", "hands prompts to the session's host, which runs codex app-server")

// Options configures an [Agent]. The zero value is ready to use.
type Options struct {
	// Dir is the working directory of the thread. Empty means that of the program, or
	// else of this process.
	Dir string

	// Store keeps the id of the thread, so that the program goes on with it when it is
	// started again. [Starter] takes a [FileStore] in the session's directory if it is
	// nil; [Open] makes a new thread each time then.
	Store Store

	// StopGrace is how long codex may go on with a prompt that was given up as
	// unconfirmed, before it is ended. Zero means 15 seconds.
	StopGrace time.Duration

	// RetryDelay is how long to wait before asking again for a thread that another
	// process writes to, and before repeating an interrupt that came too early. Zero
	// means 200 milliseconds.
	RetryDelay time.Duration

	// PieceDelay is how long text is held back so that more can join it. Zero means
	// 500 milliseconds; a negative value means not at all.
	PieceDelay time.Duration

	// PieceBytes is how much text is held back at most. Zero means 4096; a negative
	// value means that none is.
	PieceBytes int

	// MaxLineBytes bounds a line of the program. A longer notification is passed over
	// unless it ends a turn; a longer answer counts as none. Zero means 16 MiB; a
	// negative value means no bound.
	MaxLineBytes int
}

func (o Options) withDefaults() (Options, error) {
	o.StopGrace = cmp.Or(o.StopGrace, 15*time.Second)
	o.RetryDelay = cmp.Or(o.RetryDelay, 200*time.Millisecond)
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return o, fmt.Errorf("codex: working directory: %w", err)
	}
	o.Dir = dir
	return o, nil
}

// An Agent is a [host.Agent], a [host.Decider] and an [adapter.Looker]: one program
// with one thread. Make it with [Open]. It is safe for concurrent use.
type Agent struct {
	options Options
	seat    *host.Seat
	conn    *jsonrpc.Conn

	mu    sync.Mutex
	state state
}

// Submit hands a prompt to codex; see [host.Agent].
//
// Nil promises that codex has stored the message in its thread. A message that was in
// the thread before is not sent again: its turn ends at once as the one of before did,
// with the code [CodeRepeated]. It is refused while a turn is at work
// ([adapter.ErrBusy]), when codex is gone ([adapter.ErrGone]), when not all of it was
// written, and when codex rejects it. It is unconfirmed when ctx ended, or codex died,
// after it was written and before codex said that it is stored; [Agent.Lookup] then
// tells. If the process dies inside, a later Lookup tells, too.
func (a *Agent) Submit(ctx context.Context, p adapter.Prompt, sink host.Sink) error {
	if ctx.Err() != nil {
		return adapter.Refuse(context.Cause(ctx))
	}
	if !utf8.ValidString(p.Text) {
		return adapter.Refuse(errors.New("codex: the text is not valid UTF-8"))
	}
	var t *turn
	var err error
	a.with(func(s *state) { t, err = s.begin(a, p, sink) })
	if err != nil || t == nil {
		return err
	}
	step.At("adapter/codex: message is new")
	if err = a.send(t, p.Text); err != nil {
		a.with(func(s *state) { s.drop(t, adapter.Refuse(err)) })
		<-t.decided
		return t.answer
	}
	step.At("adapter/codex: message is sent")
	select {
	case <-t.decided:
	case <-ctx.Done():
		a.giveUp(t, context.Cause(ctx))
		<-t.decided
	}
	step.At("adapter/codex: message is answered for")
	return t.answer
}

// send sends the message, unless the program has died meanwhile.
func (a *Agent) send(t *turn, text string) (err error) {
	a.with(func(s *state) {
		if s.err != nil {
			err = adapter.Because(adapter.ErrGone, s.err)
			return
		}
		params := map[string]any{
			"threadId": s.thread, "clientUserMessageId": t.client,
			"input": []any{map[string]any{"type": "text", "text": text, "text_elements": []any{}}},
		}
		t.line, err = a.conn.Call(methodTurnStart, params, func(r jsonrpc.Answer) { a.with(func(s *state) { s.started(t, r) }) })
	})
	return err
}

// drop ends a turn whose message codex does not have.
func (s *state) drop(t *turn, answer error) {
	t.decide(answer)
	if s.turn == t {
		s.turn = nil
	}
}

// giveUp ends the wait for codex's word that it has the message.
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
		s.abandon(t, fmt.Errorf("codex: no word in time that the message is stored: %w", cause))
	})
}

// Interrupt asks codex to stop its turn, and cancels what it asks permission for, now
// and later; see [host.Agent]. Nil means that it was asked, or will be as soon as it
// has begun the turn.
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
