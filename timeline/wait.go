package timeline

import (
	"context"
	"os"
	"time"
)

const (
	safetyFactor = 8  // how much slower the log is looked at with notification
	retryAfter   = 20 // looks without notification until it is asked for again
)

// A waiter sleeps until a log may have grown: until the operating system says
// so, and in any case until the next look is due. It watches the session
// directory as long as there are no segments in it, and then only their directory.
type waiter struct {
	session, segments string
	poll              time.Duration
	polling           bool // notification is not wanted
	looks             int  // since notification was last asked for
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
	pause, heard := w.poll, (<-chan struct{})(nil)
	if w.ear != nil {
		pause, heard = safetyFactor*w.poll, w.ear.heard
	}
	w.timer.Reset(pause)
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-heard:
	case <-w.timer.C:
		w.looks++
	}
	return nil
}

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
