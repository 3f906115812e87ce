package oneshot

import "github.com/docket-go/docket/adapter/host"

// OpenCode runs "opencode run --format json". It prints nothing before the model
// answers, so it counts as having begun when it has read the whole prompt and is
// still there after [Options.Settle]. It has no event for the end: the turn ends with
// its process, as the last step_finish or error said, if no step began after it.
var OpenCode = Preset{
	Name:    "opencode",
	Doc:     "opencode run, one process a prompt",
	Command: []string{"opencode", "run", "--format", "json"},
	resume:  []string{"-s", idHere},
	mapper:  func(past) mapper { return opencode{} },
}

type opencode struct{}

type opencodeEvent struct {
	Type    string `json:"type"`
	Session string `json:"sessionID"`
	Part    struct {
		ID     string `json:"id"`
		Text   string `json:"text"`
		Tool   string `json:"tool"`
		Call   string `json:"callID"`
		Reason string `json:"reason"`
		State  struct {
			Status string `json:"status"`
		} `json:"state"`
		Tokens struct {
			Total     uint64 `json:"total"`
			Input     uint64 `json:"input"`
			Output    uint64 `json:"output"`
			Reasoning uint64 `json:"reasoning"`
			Cache     struct {
				Read  uint64 `json:"read"`
				Write uint64 `json:"write"`
			} `json:"cache"`
		} `json:"tokens"`
	} `json:"part"`
	Error struct {
		Name string `json:"name"`
		Data struct {
			Message string `json:"message"`
		} `json:"data"`
	} `json:"error"`
}

func (o opencode) take(line []byte, to *account) {
	var e opencodeEvent
	if !decode(line, &e) || e.Type == "" {
		return
	}
	to.converses(e.Session)
	to.begun = true
	switch e.Type {
	case "step_start":
		to.goesOn()
	case "text":
		to.text(e.Part.ID, e.Part.Text)
	case "reasoning":
		to.thought(e.Part.ID, e.Part.Text)
	case "tool_use":
		status := host.ToolDone
		if e.Part.State.Status != "completed" {
			status = host.ToolFailed
		}
		to.tool(e.Part.Call, e.Part.Tool, status)
	case "step_finish":
		o.finished(e, to)
	case "error":
		to.mayEnd(o.failed(e.Error.Name, e.Error.Data.Message))
	}
}

// finished is the end of a step, of which the last one ends the turn.
func (opencode) finished(e opencodeEvent, to *account) {
	t := e.Part.Tokens
	to.costsMore(host.Usage{
		Input: t.Input + t.Cache.Read + t.Cache.Write, Cached: t.Cache.Read,
		Output: t.Output + t.Reasoning, Reasoning: t.Reasoning, Total: t.Total,
	})
	switch e.Part.Reason {
	case "tool-calls":
		to.goesOn()
	case "stop":
		to.mayEnd(success())
	case "length":
		to.mayEnd(failure(CodeMaxTokens, "the answer reached the limit of tokens"))
	case "content-filter":
		to.mayEnd(failure(CodeRefused, "the answer was filtered"))
	default:
		to.mayEnd(unknown())
	}
}

func (opencode) failed(name, said string) host.Finished {
	switch name {
	case "ProviderAuthError":
		return failure(CodeAuthRequired, said)
	case "MessageOutputLengthError":
		return failure(CodeMaxTokens, said)
	case "MessageAbortedError":
		return host.Finished{Outcome: host.Cancelled, Diagnostic: host.Redact(said)}
	}
	return failure(CodeAgentError, said)
}
