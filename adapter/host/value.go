package host

// A Native says where an emission came from. It is provenance for people and
// identifies nothing here.
type Native struct {
	Provider string `json:"provider,omitempty"` // the kind of harness, such as "acp"
	Session  string `json:"session,omitempty"`  // the harness's id of its session
	Turn     string `json:"turn,omitempty"`     // the harness's id of its turn
	Item     string `json:"item,omitempty"`     // the harness's id of a message or part
}

// A Value is one thing that comes of a prompt: [Text], [Thought], [Tool],
// [Permission], [Usage], [Result], [Diagnostic] or [Finished]. The union is
// closed. No field takes raw frames, the input or output of a tool, or the details
// of a permission: what is emitted becomes durable.
type Value interface{ kind() string }

// Text is a piece of what the agent says.
type Text struct {
	Text string `json:"text"`
}

// Thought is a piece of what the agent lets see of its reasoning.
type Thought struct {
	Text string `json:"text"`
}

// A ToolStatus says how far a tool call is.
type ToolStatus string

// The steps of a tool call.
const (
	ToolPending ToolStatus = "pending"
	ToolRunning ToolStatus = "running"
	ToolDone    ToolStatus = "done"
	ToolFailed  ToolStatus = "failed" // ends the call, never the turn
)

// Tool is a step of a tool call.
type Tool struct {
	ID     string     `json:"id"`    // the same for all steps of one call
	Title  string     `json:"title"` // for people
	Class  string     `json:"class"` // what it does, such as "read", "edit" or "execute"
	Status ToolStatus `json:"status"`
}

// A PermissionState says what became of a request for permission.
type PermissionState string

// The states of a permission. An agent emits Asked; the broker emits the others.
const (
	Asked   PermissionState = "asked"
	Granted PermissionState = "granted"
	Denied  PermissionState = "denied"
	Revoked PermissionState = "revoked" // the turn ended or was interrupted before an answer
)

// An Option is one answer to a request for permission.
type Option struct {
	ID     string `json:"id"`
	Name   string `json:"name"`             // for people
	Grants bool   `json:"grants,omitempty"` // whether it allows what is asked
}

// Permission is a request of the agent for permission, or what became of it. An
// agent emits it once, as [Asked], with an ID that is not empty.
type Permission struct {
	ID      string          `json:"id"`
	Title   string          `json:"title"` // for people
	Options []Option        `json:"options,omitempty"`
	State   PermissionState `json:"state"`
}

// Usage is what the turn has cost so far, in tokens.
type Usage struct {
	Input     uint64 `json:"input"`
	Cached    uint64 `json:"cached,omitempty"` // of Input
	Output    uint64 `json:"output"`
	Reasoning uint64 `json:"reasoning,omitempty"` // of Output
	Total     uint64 `json:"total"`
}

// Result is the agent's result. It does not finish the turn.
type Result struct {
	Text string `json:"text"`
}

// A Severity says how bad a [Diagnostic] is.
type Severity string

// The severities.
const (
	Info    Severity = "info"
	Warning Severity = "warning"
	Problem Severity = "error" // something failed; whether the turn goes on is not said by it
)

// Diagnostic is something that people should know: a retry, a limit, a failure. It
// does not finish the turn.
type Diagnostic struct {
	Severity Severity `json:"severity"`
	Code     string   `json:"code,omitempty"` // stable, for programs
	Text     string   `json:"text"`
}

// An Outcome says how a turn ended.
type Outcome string

// The outcomes of a turn.
const (
	Success     Outcome = "success"
	Failure     Outcome = "error"
	Cancelled   Outcome = "cancelled"   // somebody wanted it to end
	Interrupted Outcome = "interrupted" // its producer is gone, and nobody knows how far it came
)

// Codes of the [Finished] that a broker itself makes.
const (
	CodeSubmitFailed   = "submit_failed"   // error: Submit did not return nil
	CodeAgentExited    = "agent_exited"    // interrupted: the program ended inside the turn
	CodeUnresponsive   = "unresponsive"    // cancelled: it was interrupted, did not stop, and was killed
	CodeHostStopped    = "host_stopped"    // interrupted: the broker was told to end
	CodeAbandoned      = "abandoned"       // interrupted: its recorder gave it up
	CodeReplayOverflow = "replay_overflow" // interrupted: more was emitted than is kept for an absent recorder
)

// Finished ends a turn, and nothing else does.
type Finished struct {
	Outcome    Outcome `json:"outcome"`
	Code       string  `json:"code,omitempty"`       // stable, for programs
	Diagnostic string  `json:"diagnostic,omitempty"` // for people
}

// State is a fact about the session that holds until the next State of its name:
// the harness's session id, its model, its mode. See [Seat.Publish].
type State struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func (Text) kind() string       { return "text" }
func (Thought) kind() string    { return "thought" }
func (Tool) kind() string       { return "tool" }
func (Permission) kind() string { return "permission" }
func (Usage) kind() string      { return "usage" }
func (Result) kind() string     { return "result" }
func (Diagnostic) kind() string { return "diagnostic" }
func (Finished) kind() string   { return "finished" }
