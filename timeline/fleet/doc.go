// Package fleet follows the timelines of any number of sessions of a store at once.
//
// # What it keeps
//
// [Follow] keeps in memory where it is in each session and that it is watched, about
// 650 bytes a session, and nothing else: no process, no goroutine, no socket and no
// open file for a session, whatever their number. All followers of a process share one
// watcher, which has one watch of the system for each session. Nothing is buffered:
// the next event is read when the consumer asks for it.
//
// A [Cursor] is the reader's place in all sessions together. A [Position] keeps one
// with the session of the reader, on the disk.
//
// # Guarantees
//
// The events of one session come exactly in their order, none missing and none
// twice, also over several iterations that go on from each other's cursors. Between
// sessions the order is that in which they are read: nothing is said about which of
// two events was committed first. No session keeps another waiting for more than a few
// hundred events once the mark is past.
//
// Exactly one update is the caught-up mark. It comes when everything was delivered
// that the sessions which were there at the call held then.
//
// A session that appears joins: one update says so, and its whole history follows. A
// session that is closed leaves, with one update after the last event that was read
// from it; what was committed just before the close may be gone with it. A session
// that is closed and made again under the same id leaves and joins. An event is never
// given to the wrong life of an id.
//
// What cannot be read is told as a [*SessionError], and the other sessions go on. A
// follower takes no lock and holds nothing that a writer waits for.
//
// A kept position never goes back in any life of a session, also while several
// processes move it. It is moved by whoever read, after that was dealt with; so each
// event is dealt with at least once, and exactly once as long as nobody dies and no
// other reader goes on from the same place at that time.
//
// # Crashes
//
// Following writes nothing, so that a crash leaves nothing. A position is replaced as a
// whole, under the record lock of its session, and synced: a reader that dies leaves the
// one that it saved last, and is given again what came behind that.
//
// # Format
//
// A cursor's text is unpadded base64url, which is safe in a URL and in a file, of one
// byte 0xF1, the number of sessions, the sessions, and the CRC-32C of all that in 4
// bytes, big-endian. A session is how many bytes its id has in common with the one
// before it, in one byte; how many others follow, in one byte; those; twice the
// sequence of its next event, plus one if its log has an epoch; and the first 8 bytes
// of the epoch if so. They are sorted by id. Numbers are unsigned varints. That is
// about 15 bytes for a session, and 20 characters: a URL has room for a few hundred.
//
// A position is the file fleet.cursor in the directory of the reader's session: the text
// of a cursor, and a newline. A file that is anything else is [ErrCorrupt].
package fleet
