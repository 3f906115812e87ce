// Package durable puts the names in a directory on stable storage.
//
// # What it keeps
//
// Nothing. It stands below all packages that make, rename or remove files, so that
// there is one answer to what a system can promise about names.
//
// # Guarantees
//
// A sync of a file makes its bytes durable and not its name. [Names] does that where
// the system has a way to ask for it: on Unix, but for file systems that refuse to sync
// a directory. Elsewhere, as on Windows, it does nothing.
//
// # Crashes
//
// It changes nothing; a process that dies inside has promised nothing.
//
// # Format
//
// There is none.
package durable
