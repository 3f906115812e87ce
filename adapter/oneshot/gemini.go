package oneshot

import "github.com/docket-go/docket/adapter/host"

// Gemini runs "gemini -o stream-json". That it repeats the prompt proves that it has
// begun; a turn ends with result.
var Gemini = Preset{
	Name:    "gemini",
	Doc:     "gemini, one process a prompt",
	Command: []string{"gemini", "-o", "stream-json"},
	resume:  []string{"--resume", idHere},
	early:   true,
	mapper:  func(past) mapper { return gemini{} },
}

type gemini struct{}

type geminiEvent struct {
	Type     string `json:"type"`
	Session  string `json:"session_id"`
	Role     string `json:"role"`
	Content  string `json:"content"`
	Tool     string `json:"tool_name"`
	ToolID   string `json:"tool_id"`
	Status   string `json:"status"`
	Severity string `json:"severity"`
	Message  string `json:"message"`
	Error    struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
	Stats struct {
		Total  uint64 `json:"total_tokens"`
		Input  uint64 `json:"input_tokens"`
		Output uint64 `json:"output_tokens"`
		Cached uint64 `json:"cached"`
	} `json:"stats"`
}

func (g gemini) take(line []byte, to *account) {
	var e geminiEvent
	if !decode(line, &e) {
		return
	}
	switch e.Type {
	case "init":
		to.converses(e.Session)
	case "message":
		to.begun = true
		if e.Role == "assistant" {
			to.text("", e.Content)
		}
	case "tool_use":
		to.begun = true
		to.tool(e.ToolID, e.Tool, host.ToolRunning)
	case "tool_result":
		status := host.ToolDone
		if e.Status != "success" {
			status = host.ToolFailed
		}
		to.tool(e.ToolID, "", status)
	case "error":
		severity := host.Warning
		if e.Severity == "error" {
			severity = host.Problem
		}
		to.note(severity, "", e.Message)
	case "result":
		to.costs(host.Usage{Input: e.Stats.Input, Cached: e.Stats.Cached, Output: e.Stats.Output, Total: e.Stats.Total})
		to.ends(g.result(e))
	}
}

func (gemini) result(e geminiEvent) host.Finished {
	switch {
	case e.Status == "success":
		return success()
	case e.Status != "error":
		return unknown()
	case e.Error.Type == "FatalTurnLimitedError":
		return failure(CodeMaxTurnRequests, e.Error.Message)
	case e.Error.Type == "FatalAuthenticationError":
		return failure(CodeAuthRequired, e.Error.Message)
	case e.Error.Type == "FatalCancellationError":
		return host.Finished{Outcome: host.Cancelled, Diagnostic: host.Redact(e.Error.Message)}
	}
	return failure(CodeAgentError, e.Error.Message)
}
