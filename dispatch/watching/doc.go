// Package watching lets one session watch another: each declaration of the watched
// session becomes an ordinary message to the session that watches.
//
// An orchestrator's agent is told in its own terminal that a worker is done, asks, or
// cannot go on, by the same means by which it is told everything else, and nobody has
// to poll.
//
//	w := watching.New(store, d, watching.Options{})
//	_, err := w.Add(ctx, "worker-1", watching.Request{By: "lead"})
//	...
//	_, err = worker.Declare(ctx, session.Declaration{Status: session.StatusAsking, Note: "tabs or blanks?"})
//	_, err = w.Tell(ctx, "worker-1", watching.TellOptions{})
//
// Whoever declares calls [Watches.Tell] afterwards, as the command docket does; and
// [dispatch.SweepOptions.Tend] is where a [dispatch.Sweeper] calls it for those who did
// not get to it. Whoever closes a session calls it before that, and does not close while
// the answer is an [UntoldError]: what was not told by then is lost with the session.
//
// # What it keeps
//
// Who watches a session is a file in the directory of the watched one, and dies with
// it. For each watcher it holds how far that was told: a place in the watched timeline.
// What became of the messages is said by the watcher's own timeline and queue.
//
// # Guarantees
//
// Each declaration between the beginning of a watch and its end becomes exactly one
// message to the watcher, in the order of the declarations, as soon as somebody calls
// Tell; declarations that say "working" only where that is asked for. A watch begins
// with what comes after it, unless it names a place; what came before its end is told
// also if that ends first. The message is keyed with the event: session, epoch and
// sequence. So it is sent once by however many processes, and a watch that begins
// again in the past repeats nothing.
//
// The message is from the watched session, and says who, what, the note, and how to
// answer: by a message. So it asks for no note, and says nothing about where a human
// reads. Of a note of more than 16 KiB it has the beginning, and how to read the rest. For
// programs its attributes say that it is such a message: watch.session, watch.cursor
// (after the event), watch.status, watch.display, and watch.proposal if there is one.
// It stays owed when the watched session is closed; a declaration that is no message
// by then is none any more.
//
// A message is no declaration, so sessions may watch each other; only itself a session
// cannot watch. A watcher that is closed is taken off the list when it would be told; a
// later session with its id is another one. It counts as closed only if the store's mark
// says so ([session.Store.Closed]), or if its id is that of another life now. One that is
// archived or retired still receives, and so is told. A watcher that cannot be told is
// told later, from where it is: its queue or its record cannot be read, or its directory
// is missing without such a mark, which is [ErrAway]. It keeps nobody else waiting, and
// never the session that declares.
//
// # Crashes
//
// The order is: declaration, message, place. A death before the message leaves it to
// the next Tell, whoever calls it. A death before the place makes that send the same
// messages again, which are the first ones again. A change of the list leaves the old
// one or the new one.
//
// A list that cannot be read is [ErrCorrupt], and never means that nobody watches.
//
// # Format
//
// watchers.json, in the watched session's directory; no file means that nobody watches.
//
//	{"version":1,"crc":"…","watchers":[
//	{"id":"…","by":"…","life":N,"working":false,"since":"…","place":"…","until":null},
//	…
//	]}
//
// crc is the CRC-32C of the bytes of watchers. life tells the watcher from other
// sessions with its id; place is the cursor before the first event that the watcher was
// not told of, and until, once the watch was ended, the one before the first event
// after that. A watcher may have several entries, as each change of what it asked for
// begins a new one.
package watching
