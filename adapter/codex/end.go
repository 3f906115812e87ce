package codex

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/host"
)

// Codes of the [host.Finished] and [host.Diagnostic] of this package. They are
// stable.
const (
	CodeContextFull  = "context_full"  // error: the thread is longer than the model takes
	CodeLimit        = "limit"         // error: a limit of use or rate is reached
	CodeRefused      = "refused"       // error: a policy of the model's provider refuses
	CodeAuthRequired = "auth_required" // error: codex wants a login
	CodeAgentError   = "agent_error"   // error: codex or its model failed
	CodeProtocol     = "protocol"      // error: codex said an end that the protocol does not have
	CodeRepeated     = "repeated"      // any end: the message was in the thread before and was not sent again
	CodeContextLost  = "context_lost"  // warning: codex could not go on with its thread of before
	CodeRetry        = "retry"         // warning: codex asks its model again
	CodeUpdateLost   = "update_lost"   // warning: a notification was too long to be read
)

// The states of a turn.
const (
	statusRunning     = "inProgress"
	statusCompleted   = "completed"
	statusFailed      = "failed"
	statusInterrupted = "interrupted"
)

// ended is what codex says of a turn.
type ended struct {
	ID     string     `json:"id"`
	Status string     `json:"status"`
	Error  *turnError `json:"error"`
}

// completed is the end of a turn.
type completed struct{ Turn ended }

// complete ends a turn as codex says. One whose message was never shown as stored ends
// without a word to the sink.
func (s *state) complete(t *turn, c completed) {
	if _, there := s.known[t.client]; there {
		s.known[t.client] = c.Turn.Status
	}
	t.decide(adapter.Unconfirm(errors.New("codex: the turn ended without a word that its message is stored")))
	s.finish(t, finishedBy(c.Turn))
}

// finishedBy returns the end that a turn has. A status that is not known is no success.
func finishedBy(e ended) host.Finished {
	switch e.Status {
	case statusCompleted:
		return host.Finished{Outcome: host.Success}
	case statusInterrupted:
		return host.Finished{Outcome: host.Cancelled}
	case statusFailed:
		if e.Error == nil {
			return host.Finished{Outcome: host.Failure, Code: CodeAgentError, Diagnostic: "the turn failed"}
		}
		return host.Finished{Outcome: host.Failure, Code: e.Error.code(), Diagnostic: e.Error.said()}
	}
	return host.Finished{Outcome: host.Failure, Code: CodeProtocol, Diagnostic: "codex ended the turn in a way that the protocol does not have"}
}

// finishRepeated ends the turn of a message that was in the thread before.
func (t *turn) finishRepeated(status string) {
	f := finishedBy(ended{Status: status})
	f.Code, f.Diagnostic = CodeRepeated, "codex has had the message since before; it was not sent again"
	if status == statusInterrupted || status == statusRunning {
		f.Outcome = host.Interrupted
	}
	t.decide(nil)
	t.sink.Finish(t.native(""), f)
}

// A turnError says why a turn failed. Its details are not even read.
type turnError struct {
	Message string          `json:"message"`
	Info    json.RawMessage `json:"codexErrorInfo"` // a name, or an object with one name
}

// said returns what can be kept of the message.
func (e turnError) said() string {
	if text := host.Redact(e.Message); text != "" {
		return text
	}
	return "codex does not say why"
}

var errorCodes = map[string]string{
	"contextWindowExceeded": CodeContextFull,
	"sessionBudgetExceeded": CodeLimit, "usageLimitExceeded": CodeLimit, "rateLimitExceeded": CodeLimit,
	"cyberPolicy": CodeRefused, "bioPolicy": CodeRefused, "misalignmentPolicyViolation": CodeRefused, "inferenceHookDenied": CodeRefused,
	"unauthorized": CodeAuthRequired,
}

// code returns the stable code of the error.
func (e turnError) code() string {
	var name string
	var object map[string]struct {
		Status int `json:"httpStatusCode"`
	}
	if json.Unmarshal(e.Info, &name) != nil {
		_ = json.Unmarshal(e.Info, &object)
	}
	for key, detail := range object {
		name = key
		switch {
		case strings.HasPrefix(key, "http") && (detail.Status == 401 || detail.Status == 403):
			return CodeAuthRequired
		case detail.Status == 429:
			return CodeLimit
		}
	}
	if code, known := errorCodes[name]; known {
		return code
	}
	return CodeAgentError
}
