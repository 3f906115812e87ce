package codex

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/adapter/host/jsonrpc"
)

// The requests for permission that a human is asked about; all other requests of codex
// are answered with an error.
const (
	askCommand     = "item/commandExecution/requestApproval"
	askFileChange  = "item/fileChange/requestApproval"
	askPermissions = "item/permissions/requestApproval"
	askElicitation = "mcpServer/elicitation/request"
)

const maxAsks = 64 // permissions that may be asked for at the same time

// The options that a human can choose from, which are codex's own names.
const (
	optionOnce    = "accept"
	optionSession = "acceptForSession"
	optionDecline = "decline"
	optionCancel  = "cancel" // declines, and ends the turn
)

var onceOrNot = []host.Option{
	{ID: optionOnce, Name: "allow once", Grants: true},
	{ID: optionDecline, Name: "reject once"},
}

// An ask is a request for permission that is not answered yet.
type ask struct {
	rpc     json.RawMessage // the id of codex's request
	method  string
	options []host.Option
	wanted  json.RawMessage // what is granted, for askPermissions
	params  json.RawMessage // with all its details, which must not be kept
}

// requested is whatever part of a request for permission is understood.
type requested struct {
	Thread      string            `json:"threadId"`
	TurnID      string            `json:"turnId"`
	ItemID      string            `json:"itemId"`
	Command     string            `json:"command"`
	Actions     []action          `json:"commandActions"`
	Available   []json.RawMessage `json:"availableDecisions"`
	Permissions json.RawMessage   `json:"permissions"`
}

// asked handles a request of codex. It is offered nothing but decisions of a human.
func (a *Agent) asked(id json.RawMessage, method string, params json.RawMessage) {
	var title string
	switch method {
	case askCommand:
	case askFileChange:
		title = "change of files"
	case askPermissions:
		title = "more permissions"
	case askElicitation:
		a.conn.Answer(id, declineOf(method))
		return
	default:
		a.conn.Refuse(id, jsonrpc.CodeNoMethod, "Method not found")
		return
	}
	var r requested
	if json.Unmarshal(params, &r) != nil {
		a.conn.Refuse(id, jsonrpc.CodeInvalidParams, "Invalid params")
		return
	}
	if title == "" {
		title = commandTitle(r.Command, r.Actions)
	}
	a.with(func(s *state) {
		t := s.turn
		if t == nil || r.Thread != s.thread || t.id == "" || r.TurnID != t.id || !t.accepted() || t.interrupted || len(t.asks) >= maxAsks {
			a.conn.Answer(id, declineOf(method))
			return
		}
		k := &ask{rpc: bytes.Clone(id), method: method, options: offered(method, r.Available), wanted: bytes.Clone(r.Permissions), params: bytes.Clone(params)}
		permission := newID()
		t.asks[permission] = k
		t.pieces.Flush()
		t.emit(r.ItemID, host.Permission{ID: permission, Title: title, Options: k.options, State: host.Asked})
	})
}

// offered returns the options of a request. Those that carry a rule with them are left
// out: what they would allow cannot be shown.
func offered(method string, available []json.RawMessage) []host.Option {
	whole := method == askCommand && available == nil || method == askFileChange
	if whole || slices.ContainsFunc(available, func(raw json.RawMessage) bool { return string(raw) == `"`+optionSession+`"` }) {
		return slices.Insert(slices.Clone(onceOrNot), 1, host.Option{ID: optionSession, Name: "allow for the session", Grants: true})
	}
	return onceOrNot
}

func newID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// answerFor returns the answer that means the option.
func (k *ask) answerFor(option string) any {
	if k.method != askPermissions {
		return map[string]any{"decision": option}
	}
	granted := map[string]json.RawMessage{}
	if option == optionOnce && json.Unmarshal(k.wanted, &granted) == nil {
		for name, value := range granted {
			if string(value) == "null" {
				delete(granted, name)
			}
		}
	}
	return map[string]any{"permissions": granted, "scope": "turn"}
}

// declineOf returns the answer that grants nothing.
func declineOf(method string) any {
	if method == askElicitation {
		return map[string]any{"action": optionDecline, "content": nil, "_meta": nil}
	}
	return (&ask{method: method}).answerFor(optionDecline)
}

// cancelAll cancels whatever waits for a decision.
func (t *turn) cancelAll() {
	for id, k := range t.asks {
		delete(t.asks, id)
		t.a.conn.Answer(k.rpc, k.answerFor(optionCancel))
	}
}

// resolved forgets a request that codex does not wait for any more.
func (t *turn) resolved(rpc json.RawMessage) {
	for id, k := range t.asks {
		if bytes.Equal(k.rpc, rpc) {
			delete(t.asks, id)
		}
	}
}

// Details returns what codex said of a permission; see [host.Detailer].
func (a *Agent) Details(permission string) (details string) {
	a.with(func(s *state) {
		if s.turn == nil {
			return
		}
		if k := s.turn.asks[permission]; k != nil {
			details = host.DetailsOf(k.params, "threadId", "turnId", "itemId", "availableDecisions")
		}
	})
	return details
}

// Decide answers a permission that was emitted as asked; see [host.Decider]. The
// error is [host.ErrNoPermission] when nobody waits for it any more, or it has no
// such option. If ctx ends before codex has read the answer, the answer still stands.
func (a *Agent) Decide(ctx context.Context, permission, choice string) error {
	var sent *host.Line
	a.with(func(s *state) {
		if s.turn == nil {
			return
		}
		k := s.turn.asks[permission]
		if k != nil && slices.ContainsFunc(k.options, func(o host.Option) bool { return o.ID == choice }) {
			delete(s.turn.asks, permission)
			sent = a.conn.Answer(k.rpc, k.answerFor(choice))
		}
	})
	if sent == nil {
		return fmt.Errorf("%w: %q with option %q", host.ErrNoPermission, permission, choice)
	}
	return sent.Wait(ctx)
}
