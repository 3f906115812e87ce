// Package surface joins package timeline/httpread, which shows a store over HTTP, to
// a dispatcher, which accepts what a human says there and knows what became of it.
//
//	sweeper := dispatch.NewSweeper(d, dispatch.SweepOptions{})
//	go sweeper.Run(ctx)
//	h, err := httpread.New(surface.Options(d, sweeper.Nudge))
//	err = h.Server().Serve(listener)
//
// # What it keeps
//
// Nothing.
//
// # Guarantees
//
// What is sent is the message of a human, with the operation
// [httpread.InputOperation] where it has a key, and is accepted as
// [dispatch.Dispatcher.SendText] says: a good answer comes once it is on stable
// storage. It comes before the delivery, so that no client waits for an agent, and
// nobody who goes away calls off what is being handed over.
//
// Every refusal of packages dispatch and queue has a status and a code of its own, in
// words for people who have no shell on the server. An answer that a message is in
// doubt names it.
//
// # Crashes
//
// What dispatch says. A client that got no answer sends again with the same key.
//
// # Format
//
// That of package httpread, with these codes beside its own: key-reused, bad-key,
// empty-text, bad-reply-via, queue-full, in-doubt, unreadable-queue, read-only,
// disk-full.
package surface
