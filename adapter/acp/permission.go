package acp

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/adapter/host/jsonrpc"
)

const (
	maxAsks     = 64  // permissions that may be asked for at the same time
	maxOptions  = 64  // of one of them
	maxOptionID = 512 // bytes
)

// A Request is what the agent asks permission for.
type Request struct {
	ID      string        // the same as in the emission
	Title   string        // what may be shown and kept of what the tool is about to do
	Class   string        // what the tool does, such as "edit" or "execute"
	Options []host.Option // the answers that there are

	// Params are the parameters of the request as the agent sent them, with all its
	// details. They are for the decision alone and must not be kept.
	Params json.RawMessage
}

// A Policy decides on requests for permission. It returns the id of one of the
// options, or "" (or anything else) to have a human asked. ctx ends with the turn
// and when it is interrupted. It may take its time, and may be called by several
// goroutines.
type Policy func(ctx context.Context, r Request) (option string)

// An ask is a request for permission that is not answered yet.
type ask struct {
	Request
	rpc    json.RawMessage // the id of the agent's request
	cancel context.CancelFunc
	shown  bool // a human is asked
}

// asked handles a request of the agent. It offers nothing but answers to requests
// for permission.
func (a *Agent) asked(id json.RawMessage, method string, params json.RawMessage) {
	if method != methodPermission {
		a.conn.Refuse(id, jsonrpc.CodeNoMethod, "Method not found")
		return
	}
	var p struct {
		SessionID string     `json:"sessionId"`
		Call      toolUpdate `json:"toolCall"`
		Options   []option   `json:"options"`
	}
	if json.Unmarshal(params, &p) != nil {
		a.conn.Refuse(id, jsonrpc.CodeInvalidParams, "Invalid params")
		return
	}
	a.with(func(s *state) {
		t := s.turn
		if t == nil || !t.sent() || p.SessionID != a.session {
			a.decline(id)
			return
		}
		s.accept(t)
		options := offered(p.Options)
		if t.interrupted || t.silent || len(options) == 0 || len(t.asks) >= maxAsks {
			a.decline(id)
			return
		}
		call, _ := t.tool(p.Call)
		t.consider(&ask{rpc: id, Request: Request{
			ID: newID(), Title: call.shown.Title, Class: call.shown.Class, Options: options, Params: slices.Clone(params),
		}})
	})
}

// An option is one answer to a request for permission, as the agent says it.
type option struct {
	ID   string `json:"optionId"`
	Kind string `json:"kind"`
}

var optionNames = map[string]string{
	"allow_once": "allow once", "allow_always": "allow always", "reject_once": "reject once", "reject_always": "reject always",
}

// offered returns the options that can be chosen. Their names are those of their
// kinds: what the agent calls them may tell what it is about to do.
func offered(options []option) (list []host.Option) {
	for _, o := range options {
		known := slices.ContainsFunc(list, func(other host.Option) bool { return other.ID == o.ID })
		if o.ID == "" || len(o.ID) > maxOptionID || known || len(list) >= maxOptions {
			continue
		}
		name := optionNames[o.Kind]
		if name == "" {
			name = "other"
		}
		list = append(list, host.Option{ID: o.ID, Name: name, Grants: o.Kind != "reject_once" && o.Kind != "reject_always"})
	}
	return list
}

func newID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// consider has a request decided, by the policy or by a human.
func (t *turn) consider(k *ask) {
	ctx, cancel := context.WithCancel(context.Background())
	k.cancel = cancel
	t.asks[k.ID] = k
	if t.a.options.Policy == nil {
		t.ask(k)
		return
	}
	go func() {
		choice := guarded(ctx, t.a.options.Policy, k.Request)
		t.a.with(func(*state) {
			if t.asks[k.ID] == k {
				t.judged(k, choice)
			}
		})
	}()
}

// guarded has a human asked when the policy panics.
func guarded(ctx context.Context, policy Policy, r Request) (choice string) {
	defer func() {
		if recover() != nil {
			choice = ""
		}
	}()
	return policy(ctx, r)
}

// judged takes the decision of the policy.
func (t *turn) judged(k *ask, choice string) {
	i := slices.IndexFunc(k.Options, func(o host.Option) bool { return o.ID == choice })
	if i < 0 {
		t.ask(k)
		return
	}
	code := CodeDenied
	if k.Options[i].Grants {
		code = CodeGranted
	}
	t.pieces.Flush()
	t.emit("", host.Diagnostic{Severity: host.Info, Code: code, Text: k.shownTitle()})
	t.choose(k, choice)
}

func (k *ask) shownTitle() string {
	if k.Title == "" {
		return k.Class
	}
	return k.Title
}

// ask asks a human.
func (t *turn) ask(k *ask) {
	k.shown = true
	t.pieces.Flush()
	t.emit("", host.Permission{ID: k.ID, Title: k.shownTitle(), Options: k.Options, State: host.Asked})
}

// choose answers the agent.
func (t *turn) choose(k *ask, choice string) *host.Line {
	k.cancel()
	delete(t.asks, k.ID)
	return t.a.conn.Answer(k.rpc, map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": choice}})
}

// decline answers a request with the outcome that grants nothing.
func (a *Agent) decline(id json.RawMessage) {
	a.conn.Answer(id, map[string]any{"outcome": map[string]any{"outcome": "cancelled"}})
}

// refuseAll declines whatever waits for a decision.
func (t *turn) refuseAll() {
	for id, k := range t.asks {
		k.cancel()
		delete(t.asks, id)
		t.a.decline(k.rpc)
	}
}

// Decide answers a permission that was emitted as asked; see [host.Decider]. The
// error is [host.ErrNoPermission] when nobody waits for it any more, or it has no
// such option. If ctx ends before the agent has read the answer, the answer still
// stands.
func (a *Agent) Decide(ctx context.Context, permission, choice string) error {
	var sent *host.Line
	a.with(func(s *state) {
		if s.turn == nil {
			return
		}
		k := s.turn.asks[permission]
		if k != nil && k.shown && slices.ContainsFunc(k.Options, func(o host.Option) bool { return o.ID == choice }) {
			sent = s.turn.choose(k, choice)
		}
	})
	if sent == nil {
		return fmt.Errorf("%w: %q with option %q", host.ErrNoPermission, permission, choice)
	}
	return sent.Wait(ctx)
}

// Details returns what the agent said of the tool call that it asks permission for; see
// [host.Detailer].
func (a *Agent) Details(permission string) (details string) {
	a.with(func(s *state) {
		if s.turn == nil {
			return
		}
		if k := s.turn.asks[permission]; k != nil && k.shown {
			var p struct {
				Call json.RawMessage `json:"toolCall"`
			}
			if json.Unmarshal(k.Params, &p) == nil {
				details = host.DetailsOf(p.Call, "toolCallId", "status")
			}
		}
	})
	return details
}
