package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/adapter/host/jsonrpc"
)

// Version is the version of the protocol that this package speaks.
const Version = 1

// ErrVersion is returned by [Open] for an agent that speaks another version.
var ErrVersion = errors.New("acp: the agent speaks another version of the protocol")

// ErrLogin is returned by [Open] for an agent that wants a login first.
var ErrLogin = errors.New("acp: the agent wants a login: log in with the program itself")

const (
	methodInitialize = "initialize"
	methodNew        = "session/new"
	methodLoad       = "session/load"
	methodPrompt     = "session/prompt"
	methodCancel     = "session/cancel"
	methodUpdate     = "session/update"
	methodPermission = "session/request_permission"

	// methodPing is no method that anybody has. The protocol leaves such names to
	// everybody, and has agents answer them with an error.
	methodPing = "_docket/ping"
)

const (
	pingWait = 5 * time.Second
	maxPings = 100
)

// Open greets an agent and gives it a session: the one that the store knows, if the
// agent can load it, and a new one if not. ctx bounds that alone.
//
// The error is [ErrVersion], [ErrLogin], or says which request failed; the program
// has been ended then. A seat of nil is one that nobody listens to.
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
	a.conn = jsonrpc.NewConn(peer, jsonrpc.Handler{
		Notified: a.heard, Asked: a.asked, TooLong: a.tooLong,
		Ended: func(err error) { a.with(func(s *state) { s.died(err) }) },
		Gone:  func(err error) { a.with(func(s *state) { s.buried(err) }) },
	}, jsonrpc.Options{Name: "acp: the agent", MaxLineBytes: o.MaxLineBytes})
	go a.conn.Serve()
	if err := a.greet(ctx); err != nil {
		_ = a.Close()
		return nil, err
	}
	a.publish(StateSession, a.session)
	return a, nil
}

// ask sends a request and waits for the answer.
func (a *Agent) ask(ctx context.Context, method string, params, result any) error {
	err := a.conn.Ask(ctx, method, params, result)
	said, is := agentErrorIn(err)
	switch {
	case err == nil:
		return nil
	case is && said.login():
		return fmt.Errorf("%w: %s", ErrLogin, method)
	case is:
		return fmt.Errorf("acp: %s: %w", method, said)
	case errors.Is(err, jsonrpc.ErrAnswer):
		return fmt.Errorf("%w: %s", errAnswer, method)
	}
	return fmt.Errorf("acp: %w", err)
}

// greet does what comes before the first prompt.
func (a *Agent) greet(ctx context.Context) error {
	var hello struct {
		Version      json.Number `json:"protocolVersion"`
		Capabilities struct {
			Load bool `json:"loadSession"`
		} `json:"agentCapabilities"`
		Info struct {
			Name    string `json:"name"`
			Version string `json:"version"`
		} `json:"agentInfo"`
	}
	err := a.ask(ctx, methodInitialize, map[string]any{
		"protocolVersion":    Version,
		"clientInfo":         map[string]any{"name": "docket", "version": "1"},
		"clientCapabilities": map[string]any{"fs": map[string]any{"readTextFile": false, "writeTextFile": false}, "terminal": false},
	}, &hello)
	if err != nil {
		return err
	}
	if hello.Version.String() != fmt.Sprint(Version) {
		return fmt.Errorf("%w: %q, want %d", ErrVersion, host.Clip(hello.Version.String(), maxTitle), Version)
	}
	a.publish(StateAgent, hello.Info.Name+" "+hello.Info.Version)
	known, err := a.known()
	if err != nil {
		return err
	}
	if known != "" && hello.Capabilities.Load {
		if err = a.load(ctx, known); err == nil || errors.Is(err, ErrLogin) || !errors.As(err, new(agentError)) {
			return err
		}
	}
	if known != "" {
		a.with(func(s *state) { s.notice = contextLost })
	}
	return a.new(ctx)
}

var contextLost = &host.Diagnostic{
	Severity: host.Warning, Code: CodeContextLost,
	Text: "the agent could not go on with its session of before, so it knows nothing of earlier turns",
}

// A made is what an agent says about a session that it made or loaded.
type made struct {
	ID    string `json:"sessionId"`
	Modes struct {
		Current string `json:"currentModeId"`
	} `json:"modes"`
	Models struct {
		Current string `json:"currentModelId"`
	} `json:"models"`
	Options []configOption `json:"configOptions"`
}

func (a *Agent) publishMade(m made) {
	a.publish(StateMode, m.Modes.Current)
	a.publish(StateModel, m.Models.Current)
	a.publishOptions(m.Options)
}

func (a *Agent) new(ctx context.Context) error {
	var m made
	if err := a.ask(ctx, methodNew, map[string]any{"cwd": a.options.Dir, "mcpServers": []any{}}, &m); err != nil {
		return err
	}
	if m.ID == "" {
		return fmt.Errorf("%w: %s: no session id", errAnswer, methodNew)
	}
	a.with(func(*state) { a.session = m.ID })
	a.publishMade(m)
	return nil
}

func (a *Agent) load(ctx context.Context, id string) error {
	var m made
	params := map[string]any{"sessionId": id, "cwd": a.options.Dir, "mcpServers": []any{}}
	a.with(func(*state) { a.session = id })
	if err := a.ask(ctx, methodLoad, params, &m); err != nil {
		a.with(func(*state) { a.session = "" })
		return err
	}
	a.with(func(s *state) { s.saved = true })
	a.publishMade(m)
	return a.settle(ctx)
}

// settle waits until the agent has told all of its loaded session's past, which
// some begin only after they have answered: until nothing comes between a request
// and its answer. What comes later would be taken for part of the next turn.
func (a *Agent) settle(ctx context.Context) error {
	for range maxPings {
		before := a.updates()
		wait, cancel := context.WithTimeout(ctx, pingWait)
		err := a.ask(wait, methodPing, struct{}{}, new(any))
		cancel()
		switch {
		case err == nil || errors.As(err, new(agentError)) || errors.Is(err, ErrLogin):
		case ctx.Err() != nil || a.conn.Cause() != nil:
			return err
		default: // it breaks the protocol, and had its time
			return nil
		}
		if a.updates() == before {
			return nil
		}
	}
	return nil
}

func (a *Agent) updates() (n int) {
	a.with(func(s *state) { n = s.updates })
	return n
}
