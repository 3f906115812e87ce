package oneshot

import "github.com/docket-go/docket/adapter/host"

// Pi runs "pi --mode json -p". Its agent_start proves that it has begun. The turn ends
// with its process, as the answer before the last agent_end said; a failed answer is
// not the end if pi tries again.
var Pi = Preset{
	Name:    "pi",
	Doc:     "pi, one process a prompt",
	Command: []string{"pi", "--mode", "json", "-p"},
	resume:  []string{"--session", idHere},
	early:   true,
	mapper:  func(past) mapper { return &pi{} },
}

// A pi keeps why the last answer stopped.
type pi struct{ stopped, said string }

type piEvent struct {
	Type    string    `json:"type"`
	ID      string    `json:"id"`
	Message piMessage `json:"message"`
	Tool    string    `json:"toolName"`
	Call    string    `json:"toolCallId"`
	Failed  bool      `json:"isError"`
	Said    string    `json:"errorMessage"`
}

type piMessage struct {
	Role    string `json:"role"`
	Content []struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		Thinking string `json:"thinking"`
	} `json:"content"`
	Usage struct {
		Input  uint64 `json:"input"`
		Output uint64 `json:"output"`
		Read   uint64 `json:"cacheRead"`
		Write  uint64 `json:"cacheWrite"`
		Total  uint64 `json:"totalTokens"`
	} `json:"usage"`
	Stopped  string `json:"stopReason"`
	Said     string `json:"errorMessage"`
	Response string `json:"responseId"`
}

func (p *pi) take(line []byte, to *account) {
	var e piEvent
	if !decode(line, &e) {
		return
	}
	switch e.Type {
	case "session":
		to.converses(e.ID)
	case "agent_start":
		to.begun = true
		to.goesOn()
		p.stopped, p.said = "", ""
	case "message_end":
		if e.Message.Role == "assistant" {
			p.answer(e.Message, to)
		}
	case "tool_execution_start":
		to.tool(e.Call, e.Tool, host.ToolRunning)
	case "tool_execution_end":
		status := host.ToolDone
		if e.Failed {
			status = host.ToolFailed
		}
		to.tool(e.Call, e.Tool, status)
	case "auto_retry_start":
		to.goesOn()
		to.note(host.Warning, CodeRetry, e.Said)
	case "auto_retry_end": // without success the end before the retry was one
		if p.stopped == "error" {
			to.mayEnd(p.end())
		}
	case "agent_end":
		to.mayEnd(p.end())
	}
}

func (p *pi) answer(m piMessage, to *account) {
	p.stopped, p.said = m.Stopped, m.Said
	for _, c := range m.Content {
		switch c.Type {
		case "text":
			to.text(m.Response, c.Text)
		case "thinking":
			to.thought(m.Response, c.Thinking)
		}
	}
	u := m.Usage
	to.costsMore(host.Usage{Input: u.Input + u.Read + u.Write, Cached: u.Read, Output: u.Output, Total: u.Total})
}

// end is what the last answer makes of the turn. A tool may end a turn, too.
func (p *pi) end() host.Finished {
	switch p.stopped {
	case "stop", "toolUse":
		return success()
	case "length":
		return failure(CodeMaxTokens, "the answer reached the limit of tokens")
	case "aborted":
		return host.Finished{Outcome: host.Cancelled, Diagnostic: host.Redact(p.said)}
	case "error":
		return failure(CodeAgentError, p.said)
	}
	return unknown()
}
