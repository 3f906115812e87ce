package doctor

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/timeline/session"
)

// interruption looks whether a change was begun and not completed. Where somebody is at
// work on it, it is looked at again later.
func (e *examination) interruption(s *session.Session) {
	if !s.Locks().Interrupted() {
		return
	}
	switch held, err := e.heldNow(s.Dir()); {
	case err != nil:
	case held:
		e.suspect(stuck{id: s.ID(), dir: s.Dir()})
	case s.Locks().Interrupted():
		e.tally.interrupted++
		e.tally.firstInterrupted = s.ID()
	}
}

// suspect remembers a session whose record lock is held.
func (e *examination) suspect(s stuck) {
	i := slices.IndexFunc(e.tally.stuck, func(known stuck) bool { return known.id == s.id })
	switch {
	case i >= 0:
		e.tally.stuck[i].pid = max(e.tally.stuck[i].pid, s.pid)
	case len(e.tally.stuck) < maxStuck:
		e.tally.stuck = append(e.tally.stuck, s)
	}
}

// heldNow reports whether somebody has the record lock, without waiting for it.
func (e *examination) heldNow(dir string) (bool, error) {
	locks, err := lock.Open(dir, lock.Options{Wait: time.Nanosecond})
	if err != nil {
		return false, err
	}
	defer locks.Close()
	held, err := locks.Record(e.ctx)
	if errors.Is(err, lock.ErrTimeout) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, held.Release()
}

// locks looks a second time at those record locks that were held, and says which still
// are by the same process.
func (e *examination) locks() {
	if e.tally.interrupted > 0 {
		e.note("interrupted", "docket drain "+e.tally.firstInterrupted,
			"%s: somebody died in the middle of a change, or the machine restarted since; whoever changes something next completes it, such as a pass",
			count(e.tally.interrupted, "session"))
	}
	if len(e.tally.stuck) == 0 || !e.wait(e.Watch) {
		return
	}
	now := holders()
	for _, s := range e.tally.stuck {
		if still, err := e.heldNow(s.dir); err != nil || !still {
			continue
		}
		f := Finding{Check: "lock", Level: Problem, Session: s.id}
		f.Text = fmt.Sprintf("its record lock, which nobody holds for longer than a change takes, is held for more than %s", e.Watch)
		if s.pid == 0 {
			f.Do = "fuser -v " + quoted(s.dir) + "/*"
		} else if pid := holderIn(s.dir, now); pid == s.pid {
			f.Text += fmt.Sprintf(" by process %d", pid)
			f.Do = fmt.Sprintf("ps -p %d -o pid,stat,etime,args", pid)
		} else {
			continue // it goes from hand to hand
		}
		e.about(f)
	}
	e.rest("lock", "docket doctor")
}

// wait lets time pass, and reports false if the context ended.
func (e *examination) wait(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-e.ctx.Done():
		return false
	}
}

// own looks at the session that the caller says it is.
func (e *examination) own() {
	if e.Own == "" {
		return
	}
	s, err := e.Store.Open(e.Own)
	switch {
	case err == nil:
		e.say(Finding{Check: "session", Level: OK, Session: e.Own, Text: "DOCKET_SESSION names it"})
		s.Release()
	case errors.Is(err, session.ErrBadID):
		e.problem("session", "unset DOCKET_SESSION", "DOCKET_SESSION is %q, which no session can be called", e.Own)
	case errors.Is(err, session.ErrNotFound):
		e.problem("session", "unset DOCKET_SESSION", "DOCKET_SESSION is %q, and the store has no such session: unset it, or make the session with docket new %s", e.Own, e.Own)
	default:
		e.problem("session", "docket verify "+e.Own, "%v", err)
	}
}
