package acp

import (
	"encoding/json"

	"github.com/docket-go/docket/adapter/host"
)

const maxTools = 1024 // calls of one turn that are told apart

// A tool is what is known of one call of a tool.
type tool struct {
	shown   host.Tool
	emitted bool
	secrets secrets
}

// toolUpdate is what a tool_call and a tool_call_update say.
type toolUpdate struct {
	ID        string          `json:"toolCallId"`
	Title     string          `json:"title"`
	Class     string          `json:"kind"`
	Status    string          `json:"status"`
	Input     json.RawMessage `json:"rawInput"`
	Output    json.RawMessage `json:"rawOutput"`
	Content   json.RawMessage `json:"content"`
	Locations json.RawMessage `json:"locations"`
}

var classes = map[string]bool{
	"read": true, "edit": true, "delete": true, "move": true, "search": true,
	"execute": true, "think": true, "fetch": true, "switch_mode": true, "other": true,
}

var toolStatuses = map[string]host.ToolStatus{
	"pending": host.ToolPending, "in_progress": host.ToolRunning, "completed": host.ToolDone, "failed": host.ToolFailed,
}

// tool notes what an update says of a call, and reports whether any of it is news
// that can be shown.
func (t *turn) tool(u toolUpdate) (call *tool, news bool) {
	call = t.tools[u.ID]
	if call == nil {
		call = &tool{shown: host.Tool{ID: host.Clip(host.Printable(u.ID), maxTitle), Status: host.ToolPending}}
		if len(t.tools) < maxTools {
			t.tools[u.ID] = call
		}
	}
	before := call.shown
	if u.Class != "" {
		call.shown.Class = "other"
		if classes[u.Class] {
			call.shown.Class = u.Class
		}
	}
	if status, known := toolStatuses[u.Status]; known {
		call.shown.Status = status
	}
	call.learn(u)
	if title := call.secrets.public(u.Title, call.shown.Class); title != "" {
		call.shown.Title = title
	}
	return call, call.shown != before || !call.emitted
}

func (c *tool) learn(u toolUpdate) {
	s := &c.secrets
	s.learn(u.Input)
	s.learn(u.Locations)
	s.seen = s.seen || len(s.values) > 0
	s.learn(u.Output)
	s.learn(u.Content)
}
