// Package lock serialises the processes and goroutines that work on one session.
//
// # What it keeps
//
// A session directory has two advisory locks. The record lock ([Record]) covers
// every change of the session's files and is held briefly; the delivery lock
// ([Delivery]) is held across a whole delivery pass, calls of the harness
// included. A third, the turns lock ([Turns]), is never waited for: it marks the
// one process that writes the session's turn log, for as long as it does. All are
// values: a function that must run under a lock takes the held lock as an
// argument, so that forgetting it does not compile.
//
// The order is delivery before record: nobody may wait for the delivery lock
// while holding the record lock. Several record locks are taken with [Records],
// which sorts them.
//
// # Guarantees
//
// The locks belong to the kernel (flock; LockFileEx on Windows). A holder that
// is killed frees them at once: there are no pid files, ages or reclaims. They
// exclude processes, goroutines, and several handles of one process alike.
//
// [Dir.Delivering] tells whether the delivery lock is held. It shares the lock with
// others who look, for the moment of the look, which no taker mistakes for a holder.
//
// Every wait has a bound ([Options.Wait]) and obeys its context. A wait that
// runs out is a [*TimeoutError], which names session and lock. Goroutines of one
// process wait in first-in first-out order without a thread each; between
// processes the lock is polled, so that a waiter never blocks in the kernel.
//
// A lock is never granted on a directory that was removed, renamed or replaced
// since [Open]: that is [ErrClosed]. A move of a directory above it is noticed within
// 10 ms. Where the file system has no working locks the answer is [ErrUnsupported],
// and where it cannot be written [ErrReadOnly]; readers need no lock and are not
// affected.
//
// # Crashes
//
// A change of several files is bracketed by [Record.Begin] and [Record.Done]. If
// the process dies in between, or the machine restarts, the next holder sees
// [Record.Interrupted] and has to make the files agree again before it calls
// [Record.Recovered]. Where the machine's boot cannot be told apart (Windows),
// a restart is not noticed; a death of the process is.
//
// # Format
//
// record.lock holds one line of 64 bytes: "clean" or "dirty", a generation that
// grows with every Begin (20 digits), and the id of the boot in which it was
// written, padded to 36 bytes. A file that holds anything else there counts as
// interrupted. A [Mark] stands at byte 64, in 64 bytes: "mark", size, from and tail, and
// the CRC-32C of the 20 digits and what stands before it (16, 16, 8 and 8 hex digits). One
// whose checksum is not right, as after a change by a program that writes the first line
// only, is none. A note of a holder ([Record.SetNote]) stands at byte 128: 118 bytes of text,
// padded with spaces, one more space, and the CRC-32C of the boot's id and the text in
// 8 hex digits. Who does not know of notes leaves it alone. delivery.lock and turns.lock are empty. All are created on first use and never
// removed while the session lives.
package lock
