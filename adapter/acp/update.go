package acp

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/docket-go/docket/adapter/host"
)

// Names of the [host.State] that an agent publishes.
const (
	StateSession = "session" // the agent's id of its session
	StateAgent   = "agent"   // name and version of the program
	StateMode    = "mode"    // the id of the mode that the agent works in
	StateModel   = "model"   // the id of the model that it asks
	StateTitle   = "title"   // what the agent calls the session
	StateContext = "context" // tokens in the context, and how many fit: used/size
)

// heard handles a notification.
func (a *Agent) heard(method string, params json.RawMessage) {
	if method != methodUpdate {
		return
	}
	var p struct {
		SessionID string          `json:"sessionId"`
		Update    json.RawMessage `json:"update"`
	}
	var kind struct {
		Kind string `json:"sessionUpdate"`
	}
	if json.Unmarshal(params, &p) != nil || json.Unmarshal(p.Update, &kind) != nil {
		return
	}
	a.with(func(s *state) {
		if p.SessionID != a.session {
			return
		}
		s.updates++
		if a.publishUpdate(kind.Kind, p.Update) || s.turn == nil || !s.turn.sent() {
			return
		}
		s.update(s.turn, kind.Kind, p.Update)
	})
}

// update handles what belongs to the turn. Each of these can only come of a prompt.
func (s *state) update(t *turn, kind string, raw json.RawMessage) {
	switch kind {
	case "agent_message_chunk", "agent_thought_chunk":
		var u struct {
			ID      string `json:"messageId"`
			Content block  `json:"content"`
		}
		if json.Unmarshal(raw, &u) == nil {
			s.accept(t)
			t.pieces.Say(u.Content.said(), host.Clip(u.ID, maxTitle), kind == "agent_thought_chunk")
		}
	case "tool_call", "tool_call_update":
		var u toolUpdate
		if json.Unmarshal(raw, &u) == nil && u.ID != "" {
			s.accept(t)
			t.show(u)
		}
	case "plan":
		var u struct{ Entries []planEntry }
		if json.Unmarshal(raw, &u) == nil {
			s.accept(t)
			t.pieces.Flush()
			t.pieces.Say(planText(u.Entries), "", true)
			t.pieces.Flush()
		}
	}
}

// show emits a step of a tool call.
func (t *turn) show(u toolUpdate) {
	call, news := t.tool(u)
	if !news {
		return
	}
	call.emitted = true
	t.pieces.Flush()
	t.emit("", call.shown)
}

// A block is a piece of content. Of what is no text only the kind is kept.
type block struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func (b block) said() string {
	switch b.Type {
	case "text":
		return b.Text
	case "image", "audio", "resource", "resource_link":
		return "[" + b.Type + "]"
	}
	return ""
}

type planEntry struct {
	Content string `json:"content"`
	Status  string `json:"status"`
}

var planMarks = map[string]host.PlanMark{"in_progress": host.StepBusy, "completed": host.StepDone}

func planText(entries []planEntry) string {
	steps := make([]host.PlanStep, len(entries))
	for i, e := range entries {
		steps[i] = host.PlanStep{Text: e.Content, Mark: cmp.Or(planMarks[e.Status], host.StepOpen)}
	}
	return host.PlanText(steps)
}

// publishUpdate publishes what belongs to the session, and reports whether the
// update is of that sort. Such updates prove nothing about a prompt.
func (a *Agent) publishUpdate(kind string, raw json.RawMessage) bool {
	var u struct {
		Mode    string         `json:"currentModeId"`
		Title   string         `json:"title"`
		Options []configOption `json:"configOptions"`
		Used    uint64         `json:"used"`
		Size    uint64         `json:"size"`
	}
	switch kind {
	case "current_mode_update", "config_option_update", "session_info_update", "usage_update":
	default:
		return false
	}
	if json.Unmarshal(raw, &u) != nil {
		return true
	}
	a.publish(StateMode, u.Mode)
	a.publish(StateTitle, u.Title)
	a.publishOptions(u.Options)
	if kind == "usage_update" {
		a.publish(StateContext, fmt.Sprintf("%d/%d", u.Used, u.Size))
	}
	return true
}

// A configOption is a setting of an agent's session, such as its model.
type configOption struct {
	Category string `json:"category"`
	Value    any    `json:"currentValue"`
}

func (a *Agent) publishOptions(options []configOption) {
	for _, o := range options {
		value, _ := o.Value.(string)
		switch o.Category {
		case StateMode, StateModel:
			a.publish(o.Category, value)
		}
	}
}

// publish says a fact about the session; an empty one is none.
func (a *Agent) publish(name, value string) {
	if value = host.Clip(host.Printable(value), 4*maxTitle); value != "" {
		a.seat.Publish(host.State{Name: name, Value: value})
	}
}

// tooLong notes that an update was too long to be read. Nothing else may be.
func (a *Agent) tooLong(_ json.RawMessage, method string) (pass bool) {
	if method != methodUpdate {
		return false
	}
	a.with(func(s *state) {
		if t := s.turn; t != nil && t.sent() && !t.unread {
			t.unread = true
			s.accept(t)
			t.pieces.Flush()
			t.emit("", host.Diagnostic{Severity: host.Warning, Code: CodeUpdateLost, Text: "an update of the agent was too long to be read"})
		}
	})
	return true
}
