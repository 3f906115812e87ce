// Package debts looks at what all the sessions of a store are still owed, for people
// and programs that watch a store: it counts, and keeps the oldest.
//
//	survey, err := debts.Take(ctx, store, debts.Options{})
//	fmt.Println(survey.Owed, "owed to", survey.Owing, "sessions")
//
// # What it keeps
//
// Nothing. A [Survey] is what the files said while it was taken.
//
// # Guarantees
//
// It takes no lock, contacts no harness and changes nothing. A session that owes
// nothing costs one stat; of one that owes, the oldest message is read, and the rest is
// counted in bounded memory; if that message is claimed, it looks whether a live pass is
// at work. What is kept
// does not grow with the store: [Options.Oldest] messages, without their texts. A
// queue that cannot be read is counted as such, never as empty.
//
// # Crashes
//
// There is nothing to leave behind.
//
// # Format
//
// That of package queue.
package debts
