// Package screen shows lines of text on a terminal and reads keys from it, for the
// verbs of docket that take the whole terminal.
//
// # What it keeps
//
// A [Terminal] keeps the lines that it shows, so that a new [Frame] writes only those
// that differ, in one write. Everything else is a value: a [Line] of [Span]s, each with
// a [Style]; a [Key].
//
// # Guarantees
//
// No text acts on the terminal, whatever it holds: what is no visible character is
// shown as a question mark ([Terminal.Draw]). Text is measured in columns, as
// terminals show it: wide characters take two, combining marks none. Where a terminal
// disagrees about a character, the columns behind it stand where they should all the
// same.
//
// Every [Style] but the colours is shown without colour too, and no colour at all is
// used where [Options.NoColor] says so.
//
// What was pasted comes as one [Key], so that no character of it is taken for a
// command.
//
// # Crashes
//
// [Open] changes the mode of the terminal, and [Terminal.Close] gives it back as it
// was, with what it showed before. A caller defers Close, so that it is given back after
// a panic too. A process that is killed leaves the terminal as it is; the command reset
// helps then.
//
// # Format
//
// It writes the control sequences of ECMA-48 and the private modes 7, 25, 1049 and 2004
// that terminals have in common with xterm, and reads the keys as xterm sends them.
package screen
