// Package watch tells the follower of a log when to look again.
//
// # What it keeps
//
// One watcher of the file system for the whole process, while anybody waits and at
// most a second longer: all [Waiter]s share it, and those of one directory share one
// watch. So a fleet of followed sessions costs no process, no socket and no probe for
// each.
//
// # Guarantees
//
// A change of a watched directory that happens after [Waiter.Wait] returned lets
// the next Wait return at once. Where the system gives no notification, or a
// directory cannot be watched, or an event got lost, the next look is due after a
// bounded time all the same. A Waiter holds nothing that a writer waits for.
//
// # Crashes and format
//
// It keeps nothing on disk, and nothing outlives the process.
package watch

import (
	"context"
	"os"
	"sync/atomic"
	"time"
)

// DefaultPoll is how often a log is looked at when nothing else is said.
const DefaultPoll = 250 * time.Millisecond

const (
	safetyFactor = 16  // how much more rarely a log with notification is looked at
	localFactor  = 256 // and one on a file system where no notification is lost unsaid
	quietFactor  = 4   // and one without, after quietLooks looks in vain
	quietLooks   = 20
	retryAfter   = 20 // looks without notification until it is asked for again
)

// started is the moment from which all waiters count; see [Waiter.due].
var started = time.Now()

// A Waiter sleeps until a log may have grown: until the operating system says
// so, and in any case until the next look is due. It watches the session
// directory as long as there are no segments in it, and then only their directory.
// One that is alone in its process takes what the system tells itself; where there are
// several, one goroutine does that for all. It is used by one goroutine at a time.
type Waiter struct {
	session, segments string
	poll              time.Duration
	polling           bool // notification is not wanted
	looks             int  // since notification was last asked for, without it
	vain              int  // looks in a row that showed nothing new
	ear               *listener
	heard             chan struct{}
	altered           atomic.Bool // more was heard of than that a file was written to
	written           bool        // see Written
	stirred           bool        // see Stirred
	local             bool        // the directory of ear is on such a file system
	timer             *time.Timer
	next              time.Time // when a look was due, in the last Wait

	// What ends a Wait that takes events itself, with this context.
	done   <-chan struct{}
	disarm func() bool
}

// New returns a Waiter for the log of the directory session that keeps its segments
// in the directory segments; both are absolute and clean. What happens after it
// returned is noticed.
//
// Poll is how often the log is looked at where the operating system gives no
// notification, and a quarter as often while nothing happens. With notification the
// log is looked at every 16 polls, in case one got lost, and only every 256 where the
// system says so itself: on a local file system of Linux. Zero means [DefaultPoll]; a
// negative value means -poll, and that no notification is asked for.
func New(session, segments string, poll time.Duration) *Waiter {
	w := &Waiter{session: session, segments: segments, poll: poll, heard: make(chan struct{}, 1)}
	switch {
	case poll == 0:
		w.poll = DefaultPoll
	case poll < 0:
		w.poll, w.polling = -poll, true
	}
	w.poll = min(w.poll, time.Hour)
	w.timer = time.NewTimer(w.poll)
	w.listen()
	return w
}

// Close gives back what the Waiter uses.
func (w *Waiter) Close() {
	w.timer.Stop()
	w.deaf()
}

// Wait returns nil when it is time to look, and otherwise ctx's error. It returns
// at once after it began to watch another directory, because what happened before
// that was not noticed.
func (w *Waiter) Wait(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w.written, w.stirred = false, false
	if w.listen() {
		return nil
	}
	due := w.due()
	how := w.take(ctx, due)
	if how == others {
		how = w.sleep(ctx, due)
	}
	switch how {
	case stirred:
		w.stirred = true
		return nil
	case overdue:
		w.looks++
		w.vain++
		return ctx.Err()
	}
	w.written = !w.altered.Swap(false) && due.Equal(w.next)
	w.next = due
	return nil
}

// Written reports that the last Wait ended because something was written to files that
// were there before, that nothing else was heard of, and that no look was due since an
// earlier Wait. Otherwise files may have come or gone.
func (w *Waiter) Written() bool { return w.written }

// Stirred reports that the last Wait ended because something happened of which nothing is
// known yet. The next Wait returns at once and knows, unless it does not concern the log.
// Until then a look at the open segment is worth its while, and no other.
func (w *Waiter) Stirred() bool { return w.stirred }

// sleep waits until another who takes events tells of one.
func (w *Waiter) sleep(ctx context.Context, due time.Time) ending {
	w.timer.Reset(time.Until(due))
	select {
	case <-ctx.Done():
	case <-w.heard:
		return rang
	case <-w.timer.C:
	}
	return overdue
}

// take sleeps in the place of who takes events, unless that is another.
func (w *Waiter) take(ctx context.Context, due time.Time) ending {
	if w.ear == nil {
		return others
	}
	if done := ctx.Done(); done != w.done {
		w.unarm()
		w.done, w.disarm = done, context.AfterFunc(ctx, w.ear.from.interrupt)
	}
	return w.ear.from.take(ctx, due, w.heard)
}

// unarm lets the end of the last context have no effect any more.
func (w *Waiter) unarm() {
	if w.disarm != nil {
		w.disarm()
	}
	w.done, w.disarm = nil, nil
}

// due returns when the next look is due in any case. All waiters of the process count
// from the same moment, because a thousand that wake together cost much less than a
// thousand that wake one by one.
func (w *Waiter) due() time.Time {
	pause := w.poll
	switch {
	case w.ear != nil && w.local:
		pause *= localFactor
	case w.ear != nil:
		pause *= safetyFactor
	case w.vain > quietLooks:
		pause *= quietFactor
	}
	return started.Add(time.Since(started).Truncate(pause) + pause)
}

// News notes that the last look was not in vain.
func (w *Waiter) News() { w.vain = 0 }

// listen sees to it that the right directory is watched, and reports whether it
// just began. Where it cannot be watched, looking now and then has to do.
func (w *Waiter) listen() (began bool) {
	if w.polling || w.ear == nil && w.looks%retryAfter != 0 {
		return false
	}
	dir := w.segments
	if w.hears(dir) {
		return false
	}
	if _, err := os.Lstat(dir); err != nil {
		dir = w.session
	}
	if w.hears(dir) {
		return false
	}
	w.deaf()
	ear, err := ears.listen(dir, w.hear, true)
	if err != nil {
		w.looks = 1
		return false
	}
	w.ear, w.local = ear, isLocal(dir)
	return true
}

func (w *Waiter) hears(dir string) bool {
	return w.ear != nil && w.ear.dir == dir && !w.ear.lost()
}

// hear notes a change.
func (w *Waiter) hear(_ string, c change) {
	if c != written {
		w.altered.Store(true)
	}
	ring(w.heard)
}

// ring wakes whoever waits for the bell, now or later.
func ring(bell chan struct{}) {
	select {
	case bell <- struct{}{}:
	default:
	}
}

func (w *Waiter) deaf() {
	w.unarm()
	if w.ear != nil {
		ears.drop(w.ear)
		w.ear = nil
	}
}
