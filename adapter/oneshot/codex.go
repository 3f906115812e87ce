package oneshot

import "github.com/docket-go/docket/adapter/host"

// Codex runs "codex exec --json". Its turn.started proves that it has begun; a turn
// ends with turn.completed or turn.failed. It tells the cost of the whole conversation,
// so that of one that goes on the usage is emitted only if that of before is known.
var Codex = Preset{
	Name:    "codex",
	Doc:     "codex exec, one process a prompt",
	Command: []string{"codex", "exec", "--json", "--skip-git-repo-check"},
	begin:   []string{"-"},
	resume:  []string{"resume", idHere, "-"},
	early:   true,
	mapper:  func(p past) mapper { return codex{p} },
}

type codex struct{ past }

type codexEvent struct {
	Type    string `json:"type"`
	Thread  string `json:"thread_id"`
	Message string `json:"message"`
	Error   struct {
		Message string `json:"message"`
	} `json:"error"`
	Item  codexItem `json:"item"`
	Usage struct {
		Input     uint64 `json:"input_tokens"`
		Cached    uint64 `json:"cached_input_tokens"`
		Output    uint64 `json:"output_tokens"`
		Reasoning uint64 `json:"reasoning_output_tokens"`
	} `json:"usage"`
}

type codexItem struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	Text    string `json:"text"`
	Message string `json:"message"`
	Status  string `json:"status"`
	Tool    string `json:"tool"`
}

func (c codex) take(line []byte, to *account) {
	var e codexEvent
	if !decode(line, &e) {
		return
	}
	switch e.Type {
	case "thread.started":
		to.converses(e.Thread)
	case "turn.started":
		to.begun = true
	case "item.started", "item.updated":
		c.item(e.Item, false, to)
	case "item.completed":
		c.item(e.Item, true, to)
	case "error":
		to.note(host.Warning, "", e.Message)
	case "turn.completed":
		c.costs(e, to)
		to.ends(success())
	case "turn.failed":
		to.ends(failure(CodeAgentError, e.Error.Message))
	}
}

// costs takes what was spent before off what the whole conversation has cost.
func (c codex) costs(e codexEvent, to *account) {
	all := host.Usage{Input: e.Usage.Input, Cached: e.Usage.Cached, Output: e.Usage.Output, Reasoning: e.Usage.Reasoning}
	to.spent = &all
	b := host.Usage{}
	switch {
	case !c.goesOn:
	case c.past.spent == nil:
		return
	default:
		b = *c.past.spent
	}
	if all.Input < b.Input || all.Cached < b.Cached || all.Output < b.Output || all.Reasoning < b.Reasoning {
		return // it has begun to count anew
	}
	to.costs(host.Usage{Input: all.Input - b.Input, Cached: all.Cached - b.Cached, Output: all.Output - b.Output, Reasoning: all.Reasoning - b.Reasoning})
}

// item is a part of the turn. Texts come whole, when the item is complete.
func (c codex) item(i codexItem, complete bool, to *account) {
	name := ""
	switch i.Type {
	case "agent_message":
		if complete {
			to.text(i.ID, i.Text)
		}
		return
	case "reasoning":
		if complete {
			to.thought(i.ID, i.Text)
		}
		return
	case "error":
		if complete {
			to.note(host.Warning, "", i.Message)
		}
		return
	case "command_execution":
		name = "command"
	case "file_change", "web_search":
		name = i.Type
	case "mcp_tool_call", "collab_tool_call":
		name = i.Tool
	default:
		return
	}
	status := host.ToolRunning
	switch {
	case i.Status == "failed", i.Status == "declined":
		status = host.ToolFailed
	case complete:
		status = host.ToolDone
	}
	to.tool(i.ID, name, status)
}
