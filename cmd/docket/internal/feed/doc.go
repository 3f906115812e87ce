// Package feed tells the terminal view what the sessions of a store are at, and keeps
// telling what changes.
//
// # What it keeps
//
// [Feed.Follow] keeps for each session whether its directory is watched, when that last
// changed, and whether it owes something: no process, no open file and no goroutine for
// a session, and nothing on disk.
//
// # Guarantees
//
// A look at a session reads its record, its queue and its last event, takes no lock, and
// is made only when the session appears, when its timeline has an event (package fleet),
// when something in its directory changes (package watch), or when its turn comes where
// there is no notification, or every [Options.Poll] while a message is being handed over
// to it. Sessions that are on the terminal come first. Looks are made
// in turns of bounded size, and take a fifth of the time at most once every session was
// looked at. However often a session changes, it is looked at ten times a second at most.
//
// What cannot be read is told as such ([top.Row.Bad]); it is never told as nothing.
//
// All texts of others go through [Options.Line] or [Options.Lines].
//
// # Crashes and format
//
// It writes nothing. [Feed.Debts] completes what a process that died left half done, as
// dispatch.Dispatcher.Debts does.
package feed
