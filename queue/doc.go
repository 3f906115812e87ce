// Package queue is what a session is still owed: the messages that were accepted
// and not yet handed to its agent.
//
// # What it keeps
//
// An ordered list of entries ([Entry]), each complete in itself, in one file of the
// session directory, and beside it what is known of the attempts at the oldest one.
// The list is filled by [Queue.Enqueue] alone and drained by a pass ([Queue.Drain]).
// Its resting state is no list, so that "is anything owed?" is one stat. A debt is
// not history: the package knows nothing of a timeline, and works on any directory.
//
// # Guarantees
//
// Order is kept: an entry leaves the list when it is proven to be delivered, or by
// [Queue.Remove]; one that is refused ends the pass and keeps its place, and so does
// everything behind it. Before an entry is handed over its claim is on disk, so that
// a message whose hand-over was begun and never ended is known as unconfirmed
// ([Entry.Unconfirmed]) and is not handed over again by itself.
//
// Enqueue is one write and the removal of the oldest entry another, whatever the
// depth; neither reads the file as long as no other handle changed it. Every change
// is made under the record lock and announced to its next holder. Readers take no
// lock. At rest the file is a JSON list for any reader.
//
// The file may be of any length. Memory grows with the longest entry and with the faults
// of the file, not with the depth, but for [Queue.List] and [Queue.Inspect], which return
// slices: [Queue.All] and [Queue.Scan] do the same without.
//
// An entry carries a checksum, and so does what is known of the attempts, so that a
// message that was changed on the disk reaches no agent. A file that makes no sense
// is never read as empty: it is [ErrCorrupt], stays as it
// is, and waits for [Queue.Rebuild]. A list that another program put in its place by
// a rename is noticed, read in whatever layout it has, and brought into this
// package's with the first use under the record lock; members that this package
// does not know are kept. An empty list is removed then. A copy of an earlier list in
// this package's layout is told from the one that was left ([Queue.Replaced]): how long
// the file was, how it ended, and up to where it was blank stands in the lock's
// [lock.Mark]. A handle that knows the file when a copy of the same length is written
// over it leaves alone what is blank by the mark, and finds the file [ErrCorrupt] at the
// last removal.
//
// Nothing but Rebuild is synced. After a restart of the machine the record lock is
// interrupted, and the files may be those of any earlier moment, each of another one,
// or damaged: an entry that was removed may be back, one that was added may be gone,
// and so may a claim. What is read is then still what was written once, or it is
// ErrCorrupt; who needs more keeps a synced record elsewhere and rebuilds from it. A
// program that changes the file without the record lock can lose what is changed at
// the same time, and bring back an entry that was handed over.
//
// # Crashes
//
// A new file, and one that takes another's place, is written beside under the name
// pending.json.new and renamed: every Remove but that of the oldest entry, the layout
// of another writer, compaction, and Rebuild. The first Enqueue links it to the name
// of the list instead, and the last removal is one unlink: the file stays under the
// other name, blank or not, and is the next list, with blanks where entries were,
// until it has 16 KiB; to make and to free a file for each message would cost ten
// times as much as all the rest. It is used only while no other name leads to it, and
// where a file cannot have two names the first Enqueue renames. A death before the
// link or the rename leaves the old state and pending.json.new, which says nothing and
// is used or replaced by the next; a death after it leaves the new state. A death before
// the claim is written leaves an entry as it was; from then until its removal it is
// unconfirmed. pending.head is written in one page, which a kill cannot tear. A pass
// leaves in it the claim of the last entry that it removed, which says nothing of any
// other, and the next claim takes its place; where something is still owed when it ends,
// it empties it first, unless it dies.
//
// Two edits are made in place, and a kill may leave any prefix of their write:
//
//   - Enqueue writes ",\n", the entry and "\n]\n" over the closing bracket. Up to two
//     bytes of it, or the whole entry without its end, leave a list without end; the
//     next holder of the record lock ends it. In between, the last line is a part of
//     an entry.
//   - The removal of the oldest entry writes spaces over it and its comma. Short of
//     the last byte, a line is left that starts with spaces and ends as the entry did;
//     short of the comma only, the next holder of the record lock blanks it.
//
// That the next holder ends a list, or blanks a comma, holds only while the record
// lock is interrupted. Behind a clean one nobody died, and such a file was cut or
// damaged: it is [ErrCorrupt] and stays as it is. So is, always, one that is made of
// blanks alone: the last entry goes with the file.
//
// A part of an entry is in doubt: the list alone cannot say whether it is owed. The
// record lock is interrupted then ([lock.Record.Interrupted]), reading is
// [ErrCorrupt], and the holder who knows from a record of its own calls
// [Queue.Inspect], in which every whole entry stands, and [Queue.Rebuild]. A caller
// that has no such record does the same with what Inspect found: an Enqueue that
// never returned promised nothing, and a Remove was meant.
//
// Rebuild copies a list that was damaged in any other way to
// pending.json.damaged-<time> first. What is no plain file it moves there at the last
// moment; a death just then leaves no list, and an interrupted lock.
//
// # Format
//
// pending.json is "[\n", lines of spaces where entries were, one line for each entry
// with a comma but for the last, "]\n". An entry is a JSON object:
//
//	{"mid":"…","text":"…","from":"…"|null,
//	 "fromLife":2,                                       if the sender is not in its first life
//	 "dispatch":{"operation":"…","requestDigest":"…"},   keyed messages
//	 "attributes":{"name":"value"},                      if there are any
//	 "seq":7,                                            if it is known
//	 "enqueuedAt":"2027-01-15T08:00:00.123Z",
//	 "doubt":"…",                                        if it may have been handed over
//	 "crc":2919762820}
//
// and then the members of other writers. The number under crc is the CRC-32C of the
// line before it, as this package writes the line: another program may change the
// layout and add members. An entry without it, of another writer, is believed. When
// more than 64 KiB, and more than a quarter of the rest, is blank, the file is
// written anew.
//
// pending.head is one JSON object, padded with spaces and a newline to 2048 bytes:
//
//	{"mid":"…","attempts":1,"claimed":"…"|null,"lastAttempt":"…"|null,"lastError":"…","crc":…}
//
// An id of more than [MaxMIDBytes] stands there as "digest", in SHA-256. The note
// counts for the entry that it names while that is the oldest. One that makes no
// sense counts as a claim of the oldest entry, whatever that is, and the next note
// replaces it. What is no plain file, or may not be opened, counts as a claim too,
// and is [ErrCorrupt] to whoever needs the claim, until Rebuild moves it to
// pending.head.damaged-<time>.
package queue
