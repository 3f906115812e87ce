// Package timeline is the record of a session: what its agent declared and what
// was said to it, in the order in which it was accepted.
//
// # What it keeps
//
// One append-only log in the session directory. Its public events are exactly of
// two kinds: status, a declaration of the agent, and sent, a message to the
// session. Between them stand private lines and on them private fields, which say
// what became of a message; no public read shows them, counts them or is moved by
// them. What is still owed is not decided here but by the queue: the log is only
// what a queue can be rebuilt from.
//
// # Guarantees
//
// [Log.Append] returns nil only once the whole entry is on stable storage; that is
// the acceptance of a message. With [Options.Buffered] it survives the death of
// the process, not a power cut. Writers hold the session's record lock; readers
// take no lock, in any process, and never make a writer wait.
//
// Lines are never edited and keep their sequence for ever. A [Cursor] names a
// sequence of one log, and stays valid across restart, rotation and sealing. One
// that does not fit is refused with its own error, and never starts again from the
// beginning in silence. A follower sees each event exactly once and in order.
//
// Tail, the derived reads (LastHuman, LastStatus, Owed, Fate, Receipt) and a
// cursor's place are found without reading the log from its start: each segment
// begins with a header that sums up what is before it.
//
// A line that cannot be read is reported as a [*LineError] with its place; nothing
// behind it is lost. Fields that this package does not know are kept and shown,
// kinds that it does not know are passed over.
//
// # Crashes
//
// A writer that dies leaves at most one unterminated line at the very end. Readers
// do not show it, and the next Write removes it. Of several entries in one Write,
// the first ones may be there. Rotation and sealing leave one complete copy of
// every line at any moment.
//
// # Format
//
// timeline.ndjson is the first segment of a session that another program began; it
// is read and never written. timeline/<12 digits>.ndjson are the segments, of which
// only the highest is written, and .ndjson.zst is one that was sealed. Package
// segment describes their headers, chain and compression. Each line is one JSON
// object, written as JSON.stringify writes it, with its fields in this order:
//
//	{"ts":"2026-11-30T09:30:15.780Z","kind":"status","status":S,"proposal":S,"note":S,"crc":"…","seq":N}
//	{"ts":…,"kind":"sent","mid":"…","text":"…","from":S,"replyVia":"note",
//	    "dispatchReceipt":{"operation":"…","requestDigest":"…","payloadHash":"…","delivery":{"text":"…","from":S}},
//	    "docket":{"delivered":"…","attributes":{"…":"…"},"fromLife":N},"crc":"…","seq":N}
//	{"ts":…,"kind":"dispatch-settled","operation":"…","requestDigest":"…","mid":"…","crc":"…","seq":N}
//	{"ts":…,"kind":"dispatch-revoked","operation":"…","requestDigest":"…","mid":"…","reason":"…","crc":"…","seq":N}
//
// S is a string or null, ts is in UTC with milliseconds, crc is a checksum of the
// line, and seq is the number of events before it. from is null for a human.
// replyVia is absent for the terminal. dispatchReceipt is there for a keyed message,
// and operation and requestDigest where the message has a key. docket is there, if
// only as {}, on each message that docket owes; delivered is in it where the text
// that is handed over is neither the receipt's nor the plain text, and fromLife
// where it is known which life of the sending session said it. The last two kinds,
// dispatchReceipt, docket, crc and seq are private.
//
// The facts in a segment's header are
//
//	{"lastHuman":{"mid":"…","ts":"…","via":"note","seq":N},"lastStatus":{"seq":N},
//	    "owed":[{"mid":"…","seq":N}],"more":{"seq":N,"count":N,"sum":"N"}}
//
// where lastHuman and lastStatus may be null. owed names the oldest unsettled
// messages, at most 256, and more stands for those that do not fit: the first seq,
// their number, and the sum of the first 8 bytes of the SHA-256 of their mids.
//
// A cursor is unpadded base64url of one byte 1, the 16 bytes of the log's epoch,
// the sequence in 8 bytes, the session's name, and the CRC-32C of all that in 4
// bytes; numbers are big-endian.
package timeline
