// Package turns records what the agent of a session host does: it is the one owner of
// the session's turn log while the host's agent works.
//
// # What it keeps
//
// Nothing of its own. A [Recorder] stands between a broker (package adapter/host),
// which owns the agent and numbers what comes of each prompt, and the turn log
// (package timeline/turn), which alone gives turns their identity. For each prompt that the
// broker offers it starts a turn, has the broker dispatch it, records every emission,
// finishes the turn, clears what belonged to it, and has the next message handed over.
//
// It stands here because it joins an adapter and a timeline, which do not know each
// other.
//
// # Guarantees
//
// A prompt reaches the agent only after its turn has started, durably. Each emission
// is recorded once, in the order of its number, before it is acknowledged to the
// broker. A turn has one end: the broker's; where the broker does not have the turn any
// more, interrupted/runtime_restart. The next prompt is not taken before the barrier
// after a turn has succeeded; a barrier that fails is tried again.
//
// Nothing is dispatched twice. What the log holds open and the broker does not know is
// finished; what the broker has at work and the log does not hold open is ended, with
// the agent's program. A broker that speaks another version is not recorded at all
// ([host.ErrVersion]).
//
// When an append fails, the turn is given up and its program ended: nothing goes on
// unrecorded.
//
// # Crashes
//
// The broker goes on without its recorder and keeps what is not acknowledged. The
// next Recorder, in any process, finds the open turn in the log, and goes on behind the
// greatest number that is committed:
//
//	died after                     the turn in the log   the next recorder
//	the offer                      none                  nothing to do: the sender was refused
//	the start, before the dispatch open, no emission     finishes it, and notes that nothing was dispatched
//	the dispatch                   open                  rebinds
//	recording an emission          open                  rebinds behind it
//	recording the end              finished              runs the barrier again, then is ready
//	the barrier                    finished              runs the barrier again, which must be harmless
//
// If the broker dies, too, the open turn is finished as interrupted/runtime_restart.
//
// # Format
//
// That of package timeline/turn. The number that the broker gave stands in each event's
// provenance; the token in the event that starts the turn.
package turns
