package timeline

import (
	"context"
	"os"
	"time"
)

const (
	safetyFactor = 16 // how much more rarely a log with notification is looked at
	quietFactor  = 4  // and one without, after quietLooks looks in vain
	quietLooks   = 20
	retryAfter   = 20 // looks without notification until it is asked for again
)

// started is the moment from which all waiters count; see [waiter.pause].
var started = time.Now()

// A waiter sleeps until a log may have grown: until the operating system says
// so, and in any case until the next look is due. It watches the session
// directory as long as there are no segments in it, and then only their directory.
type waiter struct {
	session, segments string
	poll              time.Duration
	polling           bool // notification is not wanted
	looks             int  // since notification was last asked for, without it
	vain              int  // looks in a row that showed nothing new
	ear               *listener
	timer             *time.Timer
}

func newWaiter(session, segments string, poll time.Duration) *waiter {
	w := &waiter{session: session, segments: segments, poll: poll}
	switch {
	case poll == 0:
		w.poll = defaultPoll
	case poll < 0:
		w.poll, w.polling = -poll, true
	}
	w.poll = min(w.poll, time.Hour)
	w.timer = time.NewTimer(w.poll)
	w.listen()
	return w
}

func (w *waiter) close() {
	w.timer.Stop()
	w.deaf()
}

// wait returns nil when it is time to look, and otherwise ctx's error. It returns
// at once after it began to watch another directory, because what happened before
// that was not noticed.
func (w *waiter) wait(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if w.listen() {
		return nil
	}
	var heard <-chan struct{}
	if w.ear != nil {
		heard = w.ear.heard
	}
	w.timer.Reset(w.pause())
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-heard:
	case <-w.timer.C:
		w.looks++
		w.vain++
	}
	return nil
}

// pause returns how long to sleep at most. All waiters of the process count from
// the same moment, because a thousand that wake together cost much less than a
// thousand that wake one by one.
func (w *waiter) pause() time.Duration {
	pause := w.poll
	switch {
	case w.ear != nil:
		pause *= safetyFactor
	case w.vain > quietLooks:
		pause *= quietFactor
	}
	return pause - time.Since(started)%pause
}

// news notes that the last look was not in vain.
func (w *waiter) news() { w.vain = 0 }

// listen sees to it that the right directory is watched, and reports whether it
// just began. Where it cannot be watched, looking now and then has to do.
func (w *waiter) listen() (began bool) {
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
	ear, err := ears.listen(dir)
	if err != nil {
		w.looks = 1
		return false
	}
	w.ear = ear
	return true
}

func (w *waiter) hears(dir string) bool {
	return w.ear != nil && w.ear.dir == dir && !w.ear.lost()
}

func (w *waiter) deaf() {
	if w.ear != nil {
		ears.drop(w.ear)
		w.ear = nil
	}
}
