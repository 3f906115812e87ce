// Package oneshot drives programs that take one prompt a process, for a [host.Broker]:
// a send hands the prompt over and never waits for the turn, and the turn is told by the
// events that the program prints. There is a [Preset] for each program that is known.
//
// # What it keeps
//
// The program's id of its conversation, in the file of a [FileStore], so that the next
// process goes on with it. Everything else is in memory, and between prompts nothing
// runs.
//
// Of the events these become values, without any raw frame:
//
//	what the agent says and thinks      Text, Thought
//	a call of a tool                    Tool: id, name, class and status
//	tokens                              Usage: of the turn so far
//	retries, warnings, errors           Diagnostic
//	the event that ends the turn        Finished
//
// Nothing of what a tool gets or gives is kept: a call is titled by the name of its
// tool alone. Messages of a program are cut to a line without addresses, paths and
// keys. Its standard error is never kept.
//
// # Guarantees
//
// The prompt is all that a program finds on its standard input, byte for byte, and
// then its end. (Of the known programs pi leaves out white space around it, and some
// take a text that begins with a slash for a command, if they have one of that name.)
//
// A prompt is taken once the program has read all of it, as far as the system can tell,
// and has begun: it said so by an event that it prints before it asks its model, or,
// where it prints none, lived on for [Options.Settle]. A program that ended before such
// an event has not asked its model, so that prompt is refused; one that prints none
// leaves it unconfirmed. One that cannot be started refuses, too.
//
// There is one process at a time. A turn ends once its process is gone, with its whole
// group, and as the events say, never by the exit code:
//
//	codex      turn.completed, turn.failed           final
//	gemini     result: status                        final
//	claude     result: subtype and is_error          final
//	opencode   step_finish: reason, or error         if no step begins after it
//	pi         agent_end: stopReason of the answer   if neither a retry nor an agent_start comes after it
//	none       interrupted, agent_exited; cancelled after [Agent.Interrupt]
//
// What follows a final event is passed over, and a program that goes on after it for
// [Options.ExitGrace] is ended. A success that a program has told stands, even if it
// is interrupted before it has ended.
//
// Nobody can be asked for a permission: what a program may do is a matter of its own
// configuration and arguments, and no preset grants anything.
//
// Lines that are no events and unknown events are passed over. Lines, ids, messages and
// calls are bounded.
//
// # Crashes
//
// A program whose host died works on without anybody who listens, until it ends or the
// next host of the session ends its group; its turn is interrupted. Nobody knows then
// whether a prompt whose Submit had not returned was taken. The id of a new conversation
// is stored before the first value of its turn is emitted, by an atomic replacement: a
// crash before that leaves the id of before, and what the program has noted of that
// turn is not gone on with.
//
// A program that ends without having begun with the conversation of before is started
// again without it, and the turn says so with the code context_lost. Where it may have
// begun nobody starts it again; the next prompt begins a new conversation then.
//
// # Format
//
// Events are JSON objects, one a line. The file is oneshot-session.json in the directory
// of the docket session:
//
//	{"version":1,"preset":"codex","cwd":"/home/a/project","session":"01a2…"}
package oneshot
