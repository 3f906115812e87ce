package acp

import (
	"encoding/json"

	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/adapter/host/jsonrpc"
)

// Codes of the [host.Finished] and [host.Diagnostic] of this package. They are
// stable.
const (
	CodeMaxTokens       = "max_tokens"         // error: the answer did not fit
	CodeMaxTurnRequests = "max_turn_requests"  // error: the agent asked its model as often as it may in one turn
	CodeRefused         = "refused"            // error: the model refused to go on
	CodeAgentError      = "agent_error"        // error: the agent or its model failed
	CodeAuthRequired    = "auth_required"      // error: the agent wants a login
	CodeRejected        = "rejected"           // error: the agent does not take the request
	CodeProtocol        = "protocol"           // error: the agent's answer makes no sense
	CodeContextLost     = "context_lost"       // warning: the agent could not load its session of before
	CodeUpdateLost      = "update_lost"        // warning: an update was too long to be read
	CodeGranted         = "permission_granted" // info: by the embedder's policy
	CodeDenied          = "permission_denied"  // info: by the embedder's policy
)

// A promptResult is the answer to session/prompt.
type promptResult struct {
	StopReason string `json:"stopReason"`
	Usage      *struct {
		Input     uint64 `json:"inputTokens"`
		Cached    uint64 `json:"cachedReadTokens"`
		Output    uint64 `json:"outputTokens"`
		Reasoning uint64 `json:"thoughtTokens"`
		Total     uint64 `json:"totalTokens"`
	} `json:"usage"`
}

// finishedBy returns the end of a turn that the answer to its prompt is, and what it
// cost, if the agent says so. Interrupted says that the turn was to be cancelled: an
// error means then that it was.
func finishedBy(r jsonrpc.Answer, interrupted bool) (host.Finished, *host.Usage) {
	if said, is := agentErrorIn(r.Err); is {
		f := host.Finished{Outcome: host.Failure, Code: said.code(), Diagnostic: said.Error()}
		if interrupted {
			f.Outcome = host.Cancelled
		}
		return f, nil
	}
	var result promptResult
	if json.Unmarshal(r.Result, &result) != nil {
		return host.Finished{Outcome: host.Failure, Code: CodeProtocol, Diagnostic: errAnswer.Error()}, nil
	}
	var usage *host.Usage
	if u := result.Usage; u != nil {
		usage = &host.Usage{Input: u.Input, Cached: u.Cached, Output: u.Output, Reasoning: u.Reasoning, Total: u.Total}
	}
	return stopped(result.StopReason), usage
}

// stopped returns the end that a stop reason means. One that is not known is no
// success.
func stopped(reason string) host.Finished {
	switch reason {
	case "end_turn":
		return host.Finished{Outcome: host.Success}
	case "cancelled":
		return host.Finished{Outcome: host.Cancelled}
	case "max_tokens":
		return host.Finished{Outcome: host.Failure, Code: CodeMaxTokens, Diagnostic: "the answer reached the limit of tokens"}
	case "max_turn_requests":
		return host.Finished{Outcome: host.Failure, Code: CodeMaxTurnRequests, Diagnostic: "the turn reached the limit of requests to the model"}
	case "refusal":
		return host.Finished{Outcome: host.Failure, Code: CodeRefused, Diagnostic: "the model refused to go on"}
	}
	return host.Finished{Outcome: host.Failure, Code: CodeProtocol, Diagnostic: "the agent stopped for a reason that the protocol does not have"}
}
