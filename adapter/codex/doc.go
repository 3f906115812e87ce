// Package codex drives the program codex, which speaks its app-server protocol on its
// standard input and output, for a [host.Broker].
//
// # What it keeps
//
// Codex's id of the thread, and those of threads that were lost before it, in the file
// of a [FileStore]. Everything else is in memory: one connection, at most one turn, and
// the ids of the messages that the threads have.
//
// What codex says becomes values without any of its raw frames:
//
//	agentMessage and its pieces     Text: joined until 4 KiB or half a second
//	reasoning and its pieces, plan  Thought
//	commandExecution, fileChange and other calls of tools
//	                                Tool: id, title, kind and status
//	item/.../requestApproval        Permission
//	thread/tokenUsage/updated       Usage of the turn, and the state "context"
//	error that is tried again       Diagnostic, retry
//	turn/completed                  Finished
//
// Commands, their output, changes, arguments, results and the reasons and details of a
// permission are not kept. The title of a command is the name of its first program, of
// a change the number of its files, of another call the name of the tool. Of an error
// the details are not read, and its message is cut to a line without addresses, paths
// and keys.
//
// A turn ends with codex's turn/completed for it and by nothing else codex says:
//
//	completed           success
//	interrupted         cancelled
//	failed              error: context_full, limit, refused, auth_required, else agent_error
//	another status      error, protocol
//	end of the program  interrupted, agent_exited
//
// # Guarantees
//
// The text of a message reaches codex byte for byte, with an id that is made of its
// mid. The message is taken when codex says that it has stored it under that id; the
// answer to the request alone proves nothing. Nothing of a turn is emitted before.
//
// Whether a message was stored can be looked up in the thread for ever, also after
// codex, docket and their host were killed: codex goes on with the thread, and
// [Agent.Lookup] lists every message of every turn. [Agent.Submit] never sends one that the thread has. There is never a
// second message while a turn is at work, whoever began it, since codex would steer it
// into that turn.
//
// Nothing is granted but by [Agent.Decide]. What waits for a decision when the turn
// ends or is interrupted is cancelled, which grants nothing. Requests of codex for
// anything else are answered with an error.
//
// A program that does not greet as this protocol does, does not list turns, or does not
// keep the ids of messages is ended with [ErrVersion], before a message is sent if that
// can be known. Lines that are no messages, answers to nothing, unknown notifications
// and those of other threads and turns are passed over. Lines, titles, ids, what waits
// to be written and requests for permission are bounded. Reading never waits for
// writing.
//
// # Crashes
//
// Codex finds the end of its input, and the host sees to its process group. A thread
// gets its name, with which codex stores it, before its id is kept, and its id is kept
// before its first message is sent, by an atomic replacement: a crash in between
// leaves an empty thread that nobody uses, or one that the session goes on with.
//
// Codex writes a message into what its model reads an instant before it writes down
// its id. If codex itself is killed between the two, the message counts as absent and is
// sent again: the model, which was not asked yet, then reads it twice in one request. A message
// that codex has stored, but was killed before it asked its model, is not sent
// again: its turn ends as interrupted.
//
// If codex cannot go on with the thread, or the thread was archived, the session gets a
// new one, and the first turn says so with the code context_lost. The thread of before
// is still looked into, but what codex was killed over is listed only of a thread that
// it goes on with: from then on no message is called absent any more.
//
// # Format
//
// The protocol is JSON-RPC without the field "jsonrpc", one message a line: initialize,
// thread/start or thread/resume, thread/name/set, thread/turns/list, turn/start with
// clientUserMessageId, turn/interrupt. That id is "docket-" and the mid, or "docket:"
// and the SHA-256 of a mid that is long or has other characters than letters, digits,
// ".", "_" and "-". The file is codex-thread.json in the directory of the docket
// session:
//
//	{"version":1,"thread":"01a22cf7-c70c-7b50-a544-e913a278e615","earlier":["01a1..."]}
package codex
