// Package docket is the root of a library for those who orchestrate coding agents.
// It holds no code; this page says which package does what.
//
// A docket is both things that are kept for each agent session: the record of
// what was said, and the list of what is still owed.
//
//   - timeline: the record. An append-only log of what a session declared and what
//     was said to it. timeline/session holds the store, a session's present state,
//     and the one writer of declarations; timeline/turn is the log of what an
//     agent did, turn by turn; timeline/segment is the engine under both, which
//     rotates, heals, seals and verifies files of lines, and timeline/watch tells
//     followers that there is news. timeline/fleet follows all sessions of a store
//     at once, and timeline/httpread shows them over HTTP, with a page.
//   - queue: the debt. A small ordered list of messages that have not been handed
//     to the agent yet; no file means that nothing is owed.
//   - compose: where an answer will be read, and what text the agent gets for that.
//   - adapter: how one prompt gets into one harness, and the truthful answer to
//     whether it did. adapter/none, file, exec, tmux and opencode are adapters;
//     adapter/host keeps a headless agent running and is one too, with drivers for
//     agents that speak the Agent Client Protocol (adapter/acp), for codex
//     (adapter/codex), and for programs that take one prompt a process
//     (adapter/oneshot); adapter/host/jsonrpc is the connection under two of them.
//     adapter/adaptertest proves any other adapter.
//   - dispatch: sends, delivers and repairs. It joins record and debt, and is what
//     most programs import. dispatch/turns records what a host's agent does;
//     dispatch/watching makes what one session declares a message to another.
//     For operators, dispatch/debts counts what a whole store is owed,
//     dispatch/metrics shows that and what a process did as numbers, and
//     dispatch/doctor looks store and machine over.
//   - lock: the two kernel locks of a session, as values.
//
// Imports run one way: cmd, dispatch, then queue, timeline, compose and adapter,
// then lock. Each of lock, timeline, queue and compose is usable alone, given a
// session directory.
//
// # What a crash leaves
//
// There is no daemon: any number of short-lived processes share the files. A
// process that is killed leaves at most one unfinished line at the end of a log,
// one unfinished edit of the queue file, one message whose hand-over nobody knows
// the end of, and no lock. The next process that changes the session completes the
// first two; the third is shown as unconfirmed until somebody or something decides.
//
// See examples/minimal for the whole of it in one function, and cmd/docket for the
// same on the command line.
package docket
