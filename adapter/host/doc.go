// Package host keeps one headless agent of a session running, apart from the programs
// that send to it and from the one that records its turns, so that each of the three
// may come, go and die by itself.
//
// # What it keeps
//
// A [Broker] is the process that owns the agent: a program driven by an [Agent], in a
// process group of its own. It listens on a socket in the session directory. A sender
// ([Client], an adapter) hands it a prompt. One recorder ([Owner]) starts a turn for
// that prompt in its log, and only then has the broker dispatch it. What comes of the prompt are
// [Value]s without identity; the broker numbers them 1, 2, 3… within an opaque token,
// and keeps those of the active or last turn that the recorder has not acknowledged.
// That is a replay for one recorder at a time, not a log: it lives in memory and dies with the
// broker. Package dispatch/turns has the recorder.
//
// What an [Agent] needs is here, too: a program and its group ([Process]), lines from it
// and to it ([Lines], [Writer]), what may become durable of its messages ([Redact]), the
// joining of its texts ([Pieces]), and a file that outlives it ([File]). Package jsonrpc
// below talks JSON-RPC over the first three.
//
// No value takes a raw frame, the input or output of a tool, or the details of a
// permission. Those are told to a person who looks while it waits ([Client.Asks]), out
// of the agent's memory.
//
// # Guarantees
//
// A session has one broker ([ErrRunning]) and a broker one recorder ([ErrOwned]).
// Both ends of every connection belong to one user: the socket has mode 0600 in a
// private directory, and each side asks the kernel who the other is. A peer of another
// version is turned away before anything is done for it ([ErrVersion]), and so is one
// that breaks the protocol ([ErrProtocol]).
//
// A prompt has one of the three answers of package adapter. It is refused as busy while
// a turn is open or the recorder has not cleaned up after it, as blocked without a
// recorder, as gone without a host or an agent. A sender that went away does not stop
// what it asked for: a look ([Client.Lookup]) finds out what became of it, and no
// request of an earlier connection for that message is obeyed after the look.
//
// Every dispatched prompt has exactly one [Finished], which is its last emission: the
// agent's, or, where that does not come, the broker's: the agent did not take it
// ([CodeSubmitFailed]), its program ended ([CodeAgentExited]), it did not stop when it
// was interrupted ([CodeUnresponsive]), the broker was told to end ([CodeHostStopped]),
// the recorder gave it up ([CodeAbandoned]). Whatever comes later is ignored, and
// never reaches another turn. A request for permission that has no answer by then, or
// when the turn is interrupted, is revoked at once, by an emission before the end.
//
// No agent waits for a recorder, and none makes the broker's memory grow without bound:
// a turn of which more than [Options.ReplayBytes] waits to be acknowledged is finished
// as interrupted ([CodeReplayOverflow]) and its program ended. What was emitted before that is whole;
// nothing is left out of the middle.
//
// Rebinding ([Owner.Rebind]) goes on behind a number and never dispatches. What is not
// kept any more is an error ([ErrGap]), never a gap.
//
// # Crashes
//
// A recorder that dies takes nothing with it: the agent works on. A prompt that it had
// not yet dispatched is refused, so that it is handed over again.
//
// A sender that dies before its request is complete has sent nothing. After that the
// prompt is handed over, and a look says so.
//
// A broker that dies leaves its socket, and an agent that finds the end of its input.
// The next [Open] of the session replaces the socket, and ends the agent's process
// group if its leader is still the process that was noted. Of the turn that was open it
// knows nothing: the recorder finishes that as interrupted.
//
// A program that ends is started again for the next prompt, and one that ends without
// having finished a turn after a pause that grows each time.
//
// # Format
//
// In the session directory: host.lock, empty, locked for the life of a broker, never
// removed; host.sock, the socket; host.agent, one JSON object
// {"pid":N,"start":"…"} that names the agent's process group; and, where the path of
// the socket is too long for the system, host.addr with the path of a socket in a
// directory of mode 0700 for temporary files, named after user and session directory.
//
// The protocol is JSON, one object a line, at most about 108 MB long. Each line has a
// "type"; the fields of each type are fixed, and one that it does not have is an error.
//
//	broker   welcome {version,replay,session,instance}    first, to everybody
//	peer     hello {version,role}                         role is sender or recorder
//	either   fault {reason,text}                          and the end of the connection, except after rebind
//
//	sender   prompt {mid,session,from,text,attributes}    one request a connection
//	broker   taken {token} | refused {reason,text} | unconfirmed {text}
//	sender   lookup {mid}                                 broker: presence {state,text}
//	sender   probe {}                                     broker: probed {state,text}
//	sender   interrupt {} | decide {permission,option}    broker: done {}
//	sender   asks {}                                      broker: asked {value}: [{id,title,options,details}]
//
//	broker   attached {token,n,finished,ready}            what it has
//	recorder rebind {token,n}                             go on behind n; broker: done {} or fault
//	recorder abandon {token}                              end the turn, with its program
//	recorder ready {token}                                its end is recorded and cleaned up after
//	broker   idle {}                                      a prompt can be taken
//	broker   offer {token,mid,session,from,text,attributes}
//	recorder dispatch {token} | reject {token,reason,text}
//	broker   emission {token,n,native,kind,value}
//	recorder ack {token,n}                                durable up to n
//	broker   fact {name,text}                             holds from now on; may be told again
//	broker   find {mid}                                   recorder: found {mid,state}
//
// reason is busy, blocked, gone or absent for a refusal; state is the number of an
// adapter.Presence or adapter.State. A field that is zero is absent.
package host
