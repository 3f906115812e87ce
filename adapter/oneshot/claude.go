package oneshot

import "github.com/docket-go/docket/adapter/host"

// Claude runs "claude -p --output-format stream-json", by its documentation. Its init
// proves that it has begun; a turn ends with result, of which the words and not only
// the subtype count.
var Claude = Preset{
	Name:    "claude",
	Doc:     "claude -p, one process a prompt",
	Command: []string{"claude", "-p", "--output-format", "stream-json", "--verbose"},
	resume:  []string{"--resume", idHere},
	early:   true,
	mapper:  func(past) mapper { return claude{} },
}

type claude struct{}

type claudeEvent struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	Session string `json:"session_id"`
	Parent  string `json:"parent_tool_use_id"`
	Message struct {
		ID      string        `json:"id"`
		Content []claudeBlock `json:"content"`
	} `json:"message"`
	IsError *bool  `json:"is_error"`
	Result  string `json:"result"`
	Usage   struct {
		Input   uint64 `json:"input_tokens"`
		Created uint64 `json:"cache_creation_input_tokens"`
		Read    uint64 `json:"cache_read_input_tokens"`
		Output  uint64 `json:"output_tokens"`
	} `json:"usage"`
}

type claudeBlock struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Thinking string `json:"thinking"`
	ID       string `json:"id"`
	Name     string `json:"name"`
	Call     string `json:"tool_use_id"`
	IsError  bool   `json:"is_error"`
}

func (c claude) take(line []byte, to *account) {
	var e claudeEvent
	if !decode(line, &e) {
		return
	}
	switch e.Type {
	case "system":
		to.begun = to.begun || e.Subtype == "init"
	case "assistant", "user":
		to.begun = true
		if e.Parent == "" { // what the helpers of a tool say is that tool's own
			for _, b := range e.Message.Content {
				c.block(b, e.Type, e.Message.ID, to)
			}
		}
	case "result":
		c.result(e, to)
	default:
		return
	}
	to.converses(e.Session)
}

func (claude) block(b claudeBlock, role, item string, to *account) {
	switch {
	case role == "user":
		if b.Type != "tool_result" {
			return
		}
		status := host.ToolDone
		if b.IsError {
			status = host.ToolFailed
		}
		to.tool(b.Call, "", status)
	case b.Type == "text":
		to.text(item, b.Text)
	case b.Type == "thinking":
		to.thought(item, b.Thinking)
	case b.Type == "tool_use":
		to.tool(b.ID, b.Name, host.ToolRunning)
	}
}

func (claude) result(e claudeEvent, to *account) {
	u := e.Usage
	to.costs(host.Usage{Input: u.Input + u.Created + u.Read, Cached: u.Read, Output: u.Output})
	failed := e.IsError == nil || *e.IsError
	switch {
	case e.Subtype == "success" && !failed:
		if e.Result != "" {
			to.emit("", host.Result{Text: e.Result})
		}
		to.ends(success())
	case e.Subtype == "error_max_turns":
		to.ends(failure(CodeMaxTurnRequests, "the turn reached the limit of requests to the model"))
	case e.Subtype == "error_max_budget_usd":
		to.ends(failure(CodeBudget, "the turn reached the limit of its cost"))
	case e.IsError == nil && e.Subtype == "success":
		to.ends(unknown())
	default:
		to.ends(failure(CodeAgentError, e.Result))
	}
}
