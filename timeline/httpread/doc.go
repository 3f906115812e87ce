// Package httpread shows a store over HTTP: its sessions, their timelines, what
// they are still owed, all of it live, and a page for people. It also takes what a
// human says to a session, if the embedder lets it.
//
// # What it keeps
//
// Nothing. Everything is read from the store when it is asked for, and what is
// sent goes through [Options.Send], which keeps it. What belongs to other packages
// (the queue, the states of messages, the sending) is handed in as functions; package
// dispatch/surface makes them of a dispatcher.
//
// # Guarantees
//
// No answer holds a private field of a timeline or a setting of an adapter. An
// entity tag of a timeline stands for one answer for ever, as long as its lines can
// be read. A client that comes back with the last id that it got sees each event
// exactly once and in order, across restarts of the server.
//
// Memory does not grow with a timeline, nor with a slow client: one event is read
// when the one before it was written, and a client that does not take what is
// written within [Options.WriteWait] is dropped. It goes on with its last id.
//
// A request is served only if its Host is known, its Origin is that host, and it
// either comes from this machine or bears the token: with [Options.Token] everybody
// needs it, without it only loopback is served. What is stored is data: the page
// shows every text as text, and its policy lets nothing be loaded from elsewhere.
// Every error is JSON that has a code for programs and says what to do. A panic
// answers 500 and is logged; the handler goes on.
//
// # Crashes
//
// If the process dies, streams end and clients resume as above. A send whose answer
// got lost is repeated with the same Idempotency-Key: it is the same message then.
//
// # Format
//
// The paths, with what each one takes and answers, are described by
// /api/openapi.json. Events are what a timeline stores, less private fields, and with the
// display word of a status:
//
//	{"ts":"…","kind":"status","status":"awaiting","proposal":"merge","note":"…","display":"review"}
//
// A stream is Server-Sent Events. The id of each is the cursor behind it:
//
//	id: <cursor>
//	event: event | unreadable | caught-up | joined | left | closed | error
//	data: <a JSON object>
//
// caught-up comes exactly once, where history ends; after closed and error the
// stream ends. joined and left are of the stream over all sessions, whose id is that of
// package fleet; where it would be larger than a request has room for, there is none,
// and the stream cannot be resumed. Comments in between are heartbeats.
package httpread
