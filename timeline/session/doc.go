// Package session keeps the sessions of a store: the directory of each one, the
// record of what it is now, and the one way in which an agent declares something
// about itself.
//
// # What it keeps
//
// A [Store] is a directory with one directory a session. The record of a session
// ([Record]) is its present state only; what was declared over time is its
// timeline. [Session.Declare] is the only writer of declarations: it compares,
// replaces the record, and appends the event to the timeline, in one hold of the
// record lock. An unmoved declaration writes nothing.
//
// A session is in one of three lives. It lives; it is archived, which is a mark
// and changes nothing else; or it is retired, which closes its lifecycle
// (declarations and launches) while it still receives. [Session.Close] is the only
// deletion there is. The id can be used again then; sessions with one id are told
// apart by a number that grows ([Record.Life]), and the store remembers up to which
// one they are closed ([Store.Closed]).
//
// # Guarantees
//
// Only a [ValidID] ever becomes a part of a path, and a session directory that is
// a symbolic link, belongs to another user, or may be written by everyone is
// refused. The name of the directory is the id, whatever a record that was copied
// from elsewhere says. Readers take no lock. A record that cannot be read is a
// [*RecordError], never an empty one. Fields that other programs put into a record
// are kept where they are, byte for byte.
//
// The last status event of the timeline is what [Record.Authored] says, and no two
// neighbouring status events are equal, as long as every declaration goes through
// this package.
//
// No two sessions with one id have the same life, whatever the clock does, as long
// as the mark of the closed ones is not lost. If it is damaged, the next life
// gets a number taken from the clock, which is above all counted ones.
//
// What returned nil is on stable storage, unless the timeline is opened Buffered; so
// is what it found and relied on, even if that was left by a process that died before
// it could sync it. An error that is [segment.ErrFaulted] says of a change that it
// stands and is in doubt: a sync failed, and a power cut may undo it. It keeps nobody
// from going on. After every other error of a full or failing disk things are as they
// were, but where [Session.Declare] and [Session.Close] say that the next call
// completes what was begun.
//
// # Crashes
//
// A process may be killed, and the machine may stop, at any point:
//
//   - Create: before the session has its name there is no session, from then on a
//     whole one. Until the name is durable the record lock is held, and what a death
//     leaves is an interrupted one.
//   - A change of the record alone (Update, Archive, Retire, the beginning of a
//     launch and its failure): the record is the old or the new one. From before the
//     new one has its name until that is durable the record lock is noted as
//     interrupted; the next change syncs the names before it relies on them.
//   - Declare, and a launch that worked: before the record is replaced nothing
//     happened. After it the declaration stands, also if its event is missing: the
//     record says where the event belongs and when it was made, and the next
//     change of the session, or [Session.Heal], appends it, once.
//   - Close: before the directory is moved away the session is whole, though its
//     life may be marked as closed already, and counts as closed then; close it
//     again. After it the session is gone; a power cut before Close returns may
//     bring it back, whole and marked. No file of it is removed before its name is
//     gone for good.
//
// After a power cut there is no empty or torn record or mark, whatever the disk kept
// of what was not synced. With Buffered there can be one, and a half-removed session.
//
// What is left aside (a half-made or half-removed directory, a file with the name
// of one that was to be replaced) no reader looks at; later calls remove it. A
// build belongs to a living process as long as its delivery lock is held, so that
// no other process removes it. A directory that somebody put where a file is to be
// written is kept, under that name with "~" and a random text behind it.
//
// # Format
//
// In the store, directories with mode 0700 and files with 0600:
//
//	sessions/<id>/session.json      the record
//	sessions/<id>/session.json.new  while the record is being replaced
//	sessions/<id>/...               files of the lock, timeline and queue packages
//	sessions/.staging/new-*         a session being created
//	sessions/.staging/closed-*      a session being removed
//	sessions/.staging/record.lock   held while a session gets its name
//	closed/<id>                     {"session":"<id>","closedAt":"<RFC 3339>","lives":N} and a
//	                                newline: the lives 0 to N-1 are closed; without lives, life 0
//	closed/.<id>                    while the mark is being written
//
// A record is one JSON object, one field a line, indented by two spaces, at most
// [MaxRecordBytes] long. Fields that are null or absent are empty.
//
//	session_id, title, parent, note   text
//	status, proposal                  one word each; a new session's status is null
//	life                              how many sessions with the id were closed before; absent is 0
//	createdAt                         milliseconds since 1970, a number
//	harness                           the name of the adapter
//	harness_settings                  an object of texts
//	archived, retired                 true; every other value that is not null, false, 0 or "" counts as true
//	launch_readiness_pending          {"status","proposal","note"} as they were before the launch; of
//	                                  other programs whatever counts as true
//	declared                          {"seq","ts"}: the sequence and time of the status event that
//	                                  belongs to what was declared last
package session
