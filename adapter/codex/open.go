package codex

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/adapter/host/jsonrpc"
	"github.com/docket-go/docket/lock/step"
)

var (
	// ErrVersion is returned by [Open] for a program that does not speak the protocol
	// of this package, or lacks what tells whether a message is stored.
	ErrVersion = errors.New("codex: the program does not speak this version of the app-server protocol: install codex 0.171 or a later one")

	// ErrWriter is returned by [Open] when another process keeps the thread.
	ErrWriter = errors.New("codex: another process writes to the thread: end it first")
)

const (
	methodInitialize  = "initialize"
	methodInitialized = "initialized"
	methodStart       = "thread/start"
	methodResume      = "thread/resume"
	methodName        = "thread/name/set"
	methodTurns       = "thread/turns/list"
	methodTurnStart   = "turn/start"
	methodInterrupt   = "turn/interrupt"
)

// Open greets codex and gives it a thread: the one that the store knows, if codex can
// go on with it, and a new one if not. ctx bounds that alone.
//
// The error is [ErrVersion], [ErrWriter], [ErrStore], or says which request failed; the
// program has been ended then. A seat of nil is one that nobody listens to.
func Open(ctx context.Context, peer jsonrpc.Peer, seat *host.Seat, o Options) (*Agent, error) {
	o, err := o.withDefaults()
	if err != nil {
		_ = peer.Close()
		return nil, err
	}
	if seat == nil {
		seat = &host.Seat{}
	}
	a := &Agent{options: o, seat: seat}
	a.state.known = map[string]string{}
	a.conn = jsonrpc.NewConn(peer, jsonrpc.Handler{
		Notified: a.heard, Asked: a.asked, TooLong: a.tooLong,
		Ended: func(err error) { a.with(func(s *state) { s.died(err) }) },
		Gone:  func(err error) { a.with(func(s *state) { s.buried(err) }) },
	}, jsonrpc.Options{Name: "codex: the program", Bare: true, MaxLineBytes: o.MaxLineBytes})
	go a.conn.Serve()
	if err := a.greet(ctx); err != nil {
		_ = a.Close()
		return nil, err
	}
	return a, nil
}

// ask sends a request and waits for the answer.
func (a *Agent) ask(ctx context.Context, method string, params, result any) error {
	err := a.conn.Ask(ctx, method, params, result)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jsonrpc.ErrAnswer):
		return fmt.Errorf("%w: %s", errAnswer, method)
	case errors.Is(err, jsonrpc.ErrTooLong), errors.As(err, new(*jsonrpc.Error)):
		return fmt.Errorf("codex: %s: %w", method, answered(err))
	}
	return fmt.Errorf("codex: %w", err)
}

// greet does what comes before the first prompt.
func (a *Agent) greet(ctx context.Context) error {
	var hello struct {
		Agent string `json:"userAgent"`
		Home  string `json:"codexHome"`
	}
	err := a.ask(ctx, methodInitialize, map[string]any{
		"clientInfo":   map[string]any{"name": "docket", "title": "docket", "version": "1"},
		"capabilities": map[string]any{"experimentalApi": false, "requestAttestation": false},
	}, &hello)
	switch {
	case errors.As(err, new(*jsonrpc.Error)), errors.Is(err, errAnswer):
		return fmt.Errorf("%w: %w", ErrVersion, err)
	case err != nil:
		return err
	case hello.Agent == "":
		return fmt.Errorf("%w: %s: no userAgent", ErrVersion, methodInitialize)
	}
	if _, err := a.conn.Notify(methodInitialized, nil); err != nil {
		return err
	}
	_, version, _ := strings.Cut(hello.Agent, "/") // before it stands who was greeted
	version, _, _ = strings.Cut(version, " ")
	a.publish(StateAgent, "codex "+version)
	return a.thread(ctx)
}

// thread finds or makes the thread, and learns which messages it has.
func (a *Agent) thread(ctx context.Context) error {
	var r Record
	var err error
	if a.options.Store != nil {
		if r, err = a.options.Store.Load(); err != nil {
			return err
		}
	}
	resumed := false
	if r.Thread != "" {
		if resumed, err = a.resume(ctx, r.Thread); err != nil {
			return err
		}
	}
	if !resumed {
		if err := a.begin(ctx, r); err != nil {
			return err
		}
	} else {
		a.with(func(s *state) { s.earlier = r.Earlier })
	}
	var earlier []string
	a.with(func(s *state) { r.Thread, earlier = s.thread, s.earlier })
	a.publish(StateSession, r.Thread)
	if err := a.learn(ctx, r.Thread); err != nil {
		return unspoken(err)
	}
	for _, thread := range earlier {
		if err := a.learn(ctx, thread); err != nil && !errors.As(err, new(*jsonrpc.Error)) {
			return unspoken(err)
		}
	}
	return nil
}

// A made is what codex says about a thread that it made or resumed.
type made struct {
	Thread struct {
		ID string `json:"id"`
	} `json:"thread"`
	Model string `json:"model"`
}

// resume goes on with a thread, and reports false if codex cannot.
func (a *Agent) resume(ctx context.Context, id string) (bool, error) {
	for taken := false; ; taken = true {
		var m made
		a.with(func(s *state) { s.thread = id })
		err := a.ask(ctx, methodResume, map[string]any{"threadId": id, "cwd": a.options.Dir, "excludeTurns": true}, &m)
		var said *jsonrpc.Error
		switch {
		case err == nil && m.Thread.ID != id:
			return false, fmt.Errorf("%w: %s: another thread", errAnswer, methodResume)
		case err == nil:
			a.publish(StateModel, m.Model)
			return true, nil
		case taken && ctx.Err() != nil:
			return false, fmt.Errorf("%w: thread %s", ErrWriter, id)
		case !errors.As(err, &said):
			return false, err
		case !writing(said):
			a.with(func(s *state) { s.thread, s.running = "", "" })
			return false, nil
		}
		if pause(ctx, a.options.RetryDelay) != nil { // the one of before may still be ending
			return false, fmt.Errorf("%w: thread %s", ErrWriter, id)
		}
	}
}

// pause waits a while, and returns an error if ctx ends before that.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// begin makes a new thread. Codex stores a thread with its first message or its name:
// it gets its name before its id is kept, so that a thread which is not there later
// was lost, with whatever it had.
func (a *Agent) begin(ctx context.Context, before Record) error {
	var m made
	if err := a.ask(ctx, methodStart, map[string]any{"cwd": a.options.Dir}, &m); err != nil {
		return err
	}
	if m.Thread.ID == "" {
		return fmt.Errorf("%w: %s: no thread id", errAnswer, methodStart)
	}
	name := "docket"
	if id := a.seat.Session.ID; id != "" {
		name += " " + id
	}
	if err := a.ask(ctx, methodName, map[string]any{"threadId": m.Thread.ID, "name": name}, new(any)); err != nil {
		return unspoken(err)
	}
	step.At("adapter/codex: thread is made")
	r := Record{Thread: m.Thread.ID, Earlier: before.Earlier}
	if before.Thread != "" {
		r.Earlier = append(r.Earlier[:len(r.Earlier):len(r.Earlier)], before.Thread)
	}
	if a.options.Store != nil {
		if err := a.options.Store.Save(r); err != nil {
			return err
		}
	}
	step.At("adapter/codex: thread is stored")
	a.with(func(s *state) {
		s.thread, s.earlier = r.Thread, r.Earlier
		if before.Thread != "" {
			s.notice = contextLost
		}
	})
	a.publish(StateModel, m.Model)
	return nil
}

// unspoken makes an error of codex about a request that it must know an [ErrVersion].
func unspoken(err error) error {
	if errors.As(err, new(*jsonrpc.Error)) || errors.Is(err, errAnswer) {
		return fmt.Errorf("%w: %w", ErrVersion, err)
	}
	return err
}

var contextLost = &host.Diagnostic{
	Severity: host.Warning, Code: CodeContextLost,
	Text: "codex could not go on with its thread of before, so it knows nothing of earlier turns",
}
