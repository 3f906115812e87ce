// Package acp drives an agent that speaks the Agent Client Protocol on its standard
// input and output, for a [host.Broker].
//
// # What it keeps
//
// The agent's id of its session, in the file of a [FileStore], so that a program that
// is started again goes on with the conversation. Everything else is in memory: one
// connection, and at most one prompt that is not answered yet.
//
// What the agent says becomes values without any of its raw frames:
//
//	agent_message_chunk, agent_thought_chunk    Text, Thought: joined until 4 KiB or half a second
//	plan                                        Thought, as a list
//	tool_call, tool_call_update                 Tool: id, title, kind and status, when one of them changes
//	session/request_permission                  Permission, or what the policy decided as a Diagnostic
//	usage of the answer                         Usage
//	current_mode_update and other such          State: see [StateSession] and the others
//	the answer to session/prompt                Finished
//
// The input and output of a tool, the content and locations of a call, and the
// details of a permission are not kept. Agents make titles out of them: the title of
// a command is, with most of them, the command. So a title is shown as far as it
// repeats nothing of what is known of the input; of a command, and of a call whose
// input the agent does not show, that is the first word. The options of a permission
// are named by their kinds. Of an error the data is not read, and its message is cut
// to a line without addresses, paths and keys. [Agent.Details] has the details of what
// waits for a decision, for somebody who looks now.
//
// A turn ends with the answer to its prompt and by nothing else the agent says:
//
//	end_turn            success
//	cancelled           cancelled; so does an error after [Agent.Interrupt]
//	max_tokens          error, max_tokens
//	max_turn_requests   error, max_turn_requests
//	refusal             error, refused
//	another reason      error, protocol
//	JSON-RPC error      error: auth_required for -32000, rejected for -32600 to -32602 and -32700, else agent_error
//	end of the program  interrupted, agent_exited
//
// # Guarantees
//
// The text of a prompt reaches the agent byte for byte, as one block of text. There is
// never a second prompt while one is without its answer, since agents cancel the
// first, join the two or never answer then.
//
// The protocol does not confirm a prompt. It counts as taken with the first sign that
// the agent has it: an update that only a prompt causes, a request for permission,
// its answer. An agent may think for minutes before that, so after two seconds it is
// sent a request of a method that nobody has, which it must answer with an error;
// it reads its input in order, so any answer to that proves that it has read the prompt.
// A prompt of which not all was written is refused, and so is one that
// the agent's first sign rejects; one without a sign is unconfirmed, the agent is told
// to stop it, and ended if it does not. As the protocol has no id for a prompt, nobody can
// look later whether it arrived.
//
// After a loaded session the first prompt waits until the agent is done telling its
// past, also where it begins only after its answer. None of that is emitted.
//
// Nothing is granted but by the policy or a human. What waits for a decision when the
// turn ends or is interrupted is declined. The agent gets no files and no terminals:
// other requests are answered with an error.
//
// Lines that are no messages, answers to nothing, unknown updates and other sessions
// are passed over. Lines, titles, ids, what waits to be written, calls of tools and requests
// for permission are bounded. Reading never waits for writing.
//
// # Crashes
//
// The agent finds the end of its input, and the host sees to its process group. The
// id of the session is stored before the session's first prompt is sent, by an atomic replacement:
// a crash in between leaves the id of a session that is empty, or none.
// An agent that cannot load the session gets a new one, and the first turn says so with
// the code context_lost.
//
// # Format
//
// The protocol is JSON-RPC 2.0, one message a line, version 1: initialize, session/new
// or session/load, session/prompt, session/cancel. The file is acp-session.json in the
// directory of the docket session:
//
//	{"version":1,"program":["opencode","acp"],"cwd":"/home/a/project","session":"ses_01"}
package acp
