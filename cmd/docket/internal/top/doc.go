// Package top is the terminal view of a store: its sessions, those that need a person
// first, what each is owed and why, and the conversation of any of them.
//
// # What it keeps
//
// A [Model], in memory alone: the rows of the list, and the conversation or the debts
// that are looked at. The model knows no terminal and no store. [Model.Key],
// [Model.Put] and the like change it and return [Command]s; [Model.Draw] makes a frame
// of it; [Run] carries the commands out through a [Source].
//
// # Guarantees
//
// The list is ordered by what needs a person ([Need]), then by how long it waits. The
// selection stays on its session while rows move. A frame costs what its height asks
// for, whatever the number of sessions.
//
// Nothing is changed but by a key, and nothing is decided about a message before its
// text was shown and the question was answered with y. The answer is about that
// message, whatever happened to the list meanwhile.
//
// What a colour says, a word or a sign says too.
//
// # Crashes
//
// Nothing is written. [Run] gives the terminal back in any case that leaves the process
// alive for it, a panic in any of its goroutines included.
//
// # Format
//
// The texts of rows, events and debts are shown as they are given; who gives them has
// made them harmless.
package top
