package turn

// A Kind names a type of [Payload] in the log.
type Kind string

const (
	KindStarted        Kind = "turn-started"
	KindText           Kind = "text"
	KindThought        Kind = "thought"
	KindTool           Kind = "tool"
	KindPermission     Kind = "permission"
	KindUsage          Kind = "usage"
	KindResultObserved Kind = "result-observed"
	KindDiagnostic     Kind = "diagnostic"
	KindState          Kind = "state"
	KindFinished       Kind = "turn-finished"
)

// A Payload is what happened: one of [Started], [Text], [Thought], [Tool],
// [Permission], [Usage], [ResultObserved], [Diagnostic], [State] and [Finished].
// The union is closed, and none of its fields takes a provider's raw frame, the
// output of a tool or the details of a permission: what has no field here is never
// durable.
type Payload interface {
	kind() Kind
	check(c *checker)
	append(dst []byte, private bool) []byte
}

// An Emission is a Payload that a producer may give to [Turn.Emit]: any but
// [Started] and [Finished], which the log's own operations make, and [State], which
// belongs to no turn.
type Emission interface {
	Payload
	emission()
}

// Started is the first event of a turn.
type Started struct {
	MID        string            // the message that the turn answers, if it is one of the session's
	Attributes map[string]string // of that message, or whatever the caller wants to find again

	// Token is the opaque name under which the producer knows the turn. It is stored,
	// so that [Turn.Token] has it after a restart, and shown to no reader.
	Token string
}

// Text is a piece of what the agent says.
type Text struct{ Text string }

// Thought is a piece of what the agent lets see of its reasoning.
type Thought struct{ Text string }

// A ToolStatus says how far a tool call is.
type ToolStatus string

const (
	ToolPending ToolStatus = "pending"
	ToolRunning ToolStatus = "running"
	ToolDone    ToolStatus = "done"
	ToolFailed  ToolStatus = "failed" // ends the call, never the turn
)

// Tool is a step of a tool call. Its input and output are not kept.
type Tool struct {
	ID     string // the same for all steps of one call
	Title  string // for people
	Class  string // what it does, such as "read", "edit" or "execute"
	Status ToolStatus
}

// A PermissionState says what became of a request for permission.
type PermissionState string

const (
	PermissionAsked   PermissionState = "asked"
	PermissionGranted PermissionState = "granted"
	PermissionDenied  PermissionState = "denied"
	PermissionRevoked PermissionState = "revoked" // nobody answered before the turn ended or was interrupted
)

// Permission is a request of the agent for permission, or the answer to it. What
// exactly the agent wants to do is not kept.
type Permission struct {
	ID      string // the same for request and answer
	Title   string // for people
	Options []string
	State   PermissionState
}

// Usage is what the turn has cost so far, in tokens, as the provider counts them.
type Usage struct {
	Input     uint64
	Cached    uint64 // of Input
	Output    uint64
	Reasoning uint64 // of Output
	Total     uint64
}

// ResultObserved is the agent's result. It does not finish the turn.
type ResultObserved struct{ Text string }

// A Severity says how bad a [Diagnostic] is.
type Severity string

const (
	SeverityInfo    Severity = "info"
	SeverityWarning Severity = "warning"
	SeverityError   Severity = "error" // something failed; whether the turn goes on is not said by it
)

// Diagnostic is something that people should know: a retry, a limit, a failure. It
// does not finish the turn.
type Diagnostic struct {
	Severity Severity
	Code     string // stable, for programs; may be empty
	Text     string
}

// State is a fact about the session that holds until the next State of the same
// name: the harness's session id, its model, its mode.
type State struct{ Name, Value string }

// An Outcome says how a turn ended.
type Outcome string

const (
	Success     Outcome = "success"
	Failure     Outcome = "error"
	Cancelled   Outcome = "cancelled"   // somebody wanted it to end
	Interrupted Outcome = "interrupted" // its producer is gone, and nobody knows how far it came
)

// Codes of [Finished] that docket gives itself. They are stable; adapters add their
// own for what providers report.
const (
	CodeSubmitFailed   = "submit_failed"   // error: the prompt did not reach the agent
	CodeRuntimeRestart = "runtime_restart" // interrupted: the writer came back and found no producer
	CodeAgentExited    = "agent_exited"    // error or interrupted: the agent's process ended inside the turn
	CodeTimeout        = "timeout"         // error: the agent said nothing for too long
	CodeRefused        = "refused"         // error: the model refused to answer
	CodeMaxTokens      = "max_tokens"      // error: the answer did not fit
)

// Finished is the last event of a turn, and the only thing that ends one.
type Finished struct {
	Outcome    Outcome
	Code       string // stable, for programs; may be empty
	Diagnostic string // for people
}

func (Started) kind() Kind        { return KindStarted }
func (Text) kind() Kind           { return KindText }
func (Thought) kind() Kind        { return KindThought }
func (Tool) kind() Kind           { return KindTool }
func (Permission) kind() Kind     { return KindPermission }
func (Usage) kind() Kind          { return KindUsage }
func (ResultObserved) kind() Kind { return KindResultObserved }
func (Diagnostic) kind() Kind     { return KindDiagnostic }
func (State) kind() Kind          { return KindState }
func (Finished) kind() Kind       { return KindFinished }

func (Text) emission()           {}
func (Thought) emission()        {}
func (Tool) emission()           {}
func (Permission) emission()     {}
func (Usage) emission()          {}
func (ResultObserved) emission() {}
func (Diagnostic) emission()     {}
