// Package dispatch accepts messages for a session, owes them, and hands them to
// the session's agent until each one has landed.
//
// It joins the two lives of a message. Its line in the session's timeline is the
// record: it says what was said, for ever. Its entry in the session's queue is
// the debt: it says what has not been put in front of the agent yet, and goes
// away when it has.
//
//	d := dispatch.New(store, dispatch.Options{Adapters: adapter.Registry{exec.Kind}})
//	accepted, err := d.SendText(ctx, "worker-1", dispatch.Message{Text: "run the tests"})
//
// # What it keeps
//
// Nothing of its own. It writes the files of packages timeline and queue, always
// in one hold of the record lock where two of them change.
//
// # Guarantees
//
// Accepted: [Dispatcher.SendText] returns nil once the message's line is in the
// timeline, on stable storage, and its entry in the queue. A refused send writes
// nothing.
//
// Owed: an accepted message stays in the queue until the adapter said that it
// has it, a person revoked it, or its sender was closed. What the adapter
// refuses stays, with all that is behind it: nothing is skipped, nothing
// overtakes.
//
// Once: a claim is on disk before the adapter is called. If the answer is lost,
// because the process died or the adapter could not tell, the message is
// unconfirmed: it is looked up where the adapter can look, and otherwise follows
// the session's policy. A message with a key is recorded once, however often and
// from however many processes it is sent.
//
// One state: each message is owed, unconfirmed, delivered or revoked, provable
// from the files ([Dispatcher.State]). While a live pass hands a message over it is
// owed ([Debt.Handing]): the claim is on disk, and the kernel knows that somebody holds
// the delivery lock. Once nobody does, the message is unconfirmed.
//
// Bounded: no call takes memory that grows with the timeline, nor with what is owed but
// for what it returns. Queue and timeline are held against each other part by part, also
// in the call that completes what a dead process left. Where another program brought the
// queue out of the order of the timeline, that takes about a kilobyte for each entry.
//
// # Crashes
//
// The order of a send is: timeline line, queue entry, unlock, one data sync. A
// death before the line leaves nothing. A death between line and entry leaves a
// message that is in the timeline and not in the queue; the next holder of the
// record lock finds the lock interrupted and puts the entry back. A death before
// the sync leaves a message that the sender was told nothing about and that is
// delivered, unless the machine lost power too. Where nothing else is owed the pass
// behind a send takes the delivery lock before the sync, and hands over after it.
//
// In a buffered store, which syncs nothing, the pass behind a send begins before the
// unlock; its first claim is then in the same hold of the record lock.
//
// The order of a hand-over is: claim, insert, settlement line, removal. A death
// between claim and settlement leaves an unconfirmed message; a death between
// settlement and removal is completed by the next holder, without the adapter.
//
// A power cut may damage the queue file, which is never synced. The first change
// after the restart rebuilds it from the timeline's private lines. What it cannot
// prove, because another writer's entries were in the file, it reports as
// [queue.ErrCorrupt] and leaves as it is.
//
// A copy of an earlier queue that somebody puts in its place is noticed by the next holder
// of the record lock ([queue.Queue.Replaced]), who takes out what the timeline proves to be
// at an end and puts back what it proves to be owed behind all that the copy holds. What
// the copy lacks before may have been handed over by another program, which writes the
// queue in a layout of its own or removes it: that stays as it is, and so does what is
// missing where there is no file. [Dispatcher.Disagreements] names it.
//
// Where a file was damaged, a message that the queue has lost and behind which the
// timeline has a line that cannot be read may be delivered: that line may have said
// so. [Dispatcher.Repair], and a retry of its key, put it back as unconfirmed.
//
// # Format
//
// That of packages timeline and queue. A keyed message stores the SHA-256 of its
// key and of its content, and never the key. One that outlives its sender is, there, of
// the sender's life 9007199254740991.
package dispatch
