// Package turn is the log of an agent's turns: what happened in each, by whoever
// drives the agent, in one provider-neutral form, and how each one ended.
//
// # What it keeps
//
// A session directory has one turn log. Its events are a closed, versioned union
// ([Payload]): a turn starts, the agent says and thinks, calls tools, asks for
// permission, uses tokens, a result or a diagnostic is observed, and the turn
// finishes. Between and inside turns stand facts about the session ([State]).
//
// A [Writer] is the log's one owner: [Writer.Start] makes a [Turn], which is the
// capability to write on exactly that turn; producers give it values without
// identity. The log alone assigns turn ids, sequences and times. What the provider
// calls its session, turn and messages is noted as provenance ([Native]) and decides
// nothing. [Read] gives the log to any number of readers, in any process.
//
// No field takes a provider's raw frame, the output of a tool or the details of a
// permission: they cannot become durable through this package.
//
// # Guarantees
//
// A turn has exactly one [Finished], which is its last event. Nothing else ends it: no
// result, no diagnostic, no failed tool. The same finish again returns the event that
// stands; another outcome is refused ([ErrTerminalConflict]); an emission on a
// finished turn is refused ([ErrFinished]) and never given to another turn.
//
// After Finished the barrier runs ([Options.Barrier]), synchronously and for that
// exact turn, and no turn starts before it succeeded. It is no follower: nobody who
// reads can delay it.
//
// An event is recorded before anybody hears of it. Each call appends one line under
// the session's record lock, and returns nil when the line is on stable storage;
// calls at the same time share one data sync. Readers of [Writer.Log] see an event
// from then on. Readers elsewhere see the file itself, and so may see an event for
// the moment in which it is written and not yet synced: if the power fails in that
// moment, they have seen an event that is not in the log, and another may get its
// sequence.
//
// An append that fails faults the Writer: its sequence is not used, every later write
// is refused ([ErrFaulted]), the followers of its Log end with the error, and
// [Options.Faulted] stops the producer. So nothing is ever recorded behind a hole.
// Open the log anew to go on; where it was the sync that failed, that finds out
// whether the event is there.
//
// [Log.History] reads to the end; [Log.Follow] reads on, past one mark, to whatever
// is committed later; [Log.Tail] leaves history out. [Log.Recent], [Log.Latest] and
// [Log.Answers] do not read the whole log. A cursor is one of package
// timeline: opaque, of one session and one life of its log, valid across restart,
// rotation and sealing, and refused with its own error where it does not fit. Readers
// read the files when they like. Nothing is queued for them, and no writer waits.
//
// Memory does not grow with the log. A Writer keeps the last turn and at most 64
// facts; recovery and readers hold one event at a time.
//
// A session has one Writer at a time. The kernel keeps that promise (package lock);
// a second one is refused ([ErrWriter]).
//
// # Crashes
//
// A writer that dies leaves at most one unterminated line, which nobody sees and the
// next Writer removes. The turn it was in stays open. The next [Open] reads the whole
// log and refuses to go on with one that no writer can have left ([*InvalidError]):
// an event of a later version or an unknown kind, damage, a gap, a turn inside
// another. Otherwise [Writer.Active] has the turn with its token and the greatest
// broker sequence that was committed, from which a surviving producer goes on. Where
// there is none, the turn is finished once, as interrupted/runtime_restart. It is
// never dispatched again.
//
// Where the writer died between an event and the sync, the event is there, and the
// next Open syncs it. Where it died between Finished and the end of the barrier, the
// next Writer runs the barrier again before it starts a turn: that a later turn
// started is what proves, in the log, that the barrier before it succeeded.
//
// After a power cut, everything that a call returned nil for is there, unless
// [Options.Buffered] was set.
//
// # Format
//
// turns/<12 digits>.ndjson are the segments, as package segment describes them, with
// facts that are null; turns.lock belongs to package lock. Every line but a segment's
// header is public: one JSON object with its fields in this order, without spaces,
// and with no escapes in strings but \" \\ \n \r \t and \u00xx for other control
// characters. A line in any other form is refused.
//
//	{"ts":"2026-11-30T09:30:15.780Z","kind":"turn-started","v":1,"turn":"7-k3v…","mid":"…","token":"…","attributes":{"…":"…"},…}
//	{…,"kind":"text","v":1,"turn":"…","text":"…",…}
//	{…,"kind":"thought","v":1,"turn":"…","text":"…",…}
//	{…,"kind":"tool","v":1,"turn":"…","tool":"…","title":"…","class":"…","status":"pending|running|done|failed",…}
//	{…,"kind":"permission","v":1,"turn":"…","permission":"…","title":"…","options":["…"],"state":"asked|granted|denied|revoked",…}
//	{…,"kind":"usage","v":1,"turn":"…","input":N,"cached":N,"output":N,"reasoning":N,"total":N,…}
//	{…,"kind":"result-observed","v":1,"turn":"…","text":"…",…}
//	{…,"kind":"diagnostic","v":1,"turn":"…","severity":"info|warning|error","code":"…","text":"…",…}
//	{…,"kind":"state","v":1,"name":"…","value":"…",…}
//	{…,"kind":"turn-finished","v":1,"turn":"…","outcome":"success|error|cancelled|interrupted","code":"…","diagnostic":"…",…}
//
// each followed by
//
//	,"native":{"provider":"…","session":"…","turn":"…","item":"…","broker":N},"crc":"…","seq":N}
//
// ts is in UTC with milliseconds. turn is the turn's number in the log, from 1, a
// hyphen, and something random. token and attributes are absent where they are
// empty, and so are native and each of its fields. token, crc and seq are private.
package turn
