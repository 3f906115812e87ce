package oneshot

// Codes of the [host.Finished] and [host.Diagnostic] of this package. They are stable,
// and mean what they mean in package acp.
const (
	CodeAgentError      = "agent_error"       // error: the program or its model failed
	CodeAuthRequired    = "auth_required"     // error: the program wants a login
	CodeMaxTokens       = "max_tokens"        // error: the answer did not fit
	CodeMaxTurnRequests = "max_turn_requests" // error: the program asked its model as often as it may in one turn
	CodeRefused         = "refused"           // error: the model refused to go on
	CodeBudget          = "budget"            // error: the turn cost as much as it may
	CodeProtocol        = "protocol"          // error: the end of the turn makes no sense
	CodeContextLost     = "context_lost"      // warning: the program could not go on with the conversation of before
	CodeContextUnsaved  = "context_unsaved"   // warning: the id of the conversation could not be stored
	CodeUpdateLost      = "update_lost"       // warning: an event was too long to be read
	CodeRetry           = "retry"             // warning: the program asks its model again
)

// StateSession is the name of the [host.State] with the program's id of the
// conversation.
const StateSession = "session"
