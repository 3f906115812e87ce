package dispatch

import (
	"container/heap"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// Run retries until ctx ends: it makes a pass for a session as soon as a debt is
// found, and again, at growing distances, while something is left. A debt is found
// by notification of the operating system, and by looking at all sessions every
// [SweepOptions.Interval]; where there is no notification, or not of all sessions,
// every [SweepOptions.Poll]. On a store so large that looking takes long, the
// distance grows, so that it takes a fiftieth of the time at most. A session that
// owes nothing costs no more than that.
//
// A message that is enqueued while its session waits for the next attempt does not
// hasten it, as its sender makes a pass by itself; but a message after an empty
// queue does, and so does, where there is notification, a change of the message at
// which the deliveries stopped, such as a confirmation or a revocation.
//
// No session ends it: a session that cannot be read is logged and tried again at
// MaxBackoff, and one that is closed is forgotten. A store that does not exist is
// waited for. It returns another error than ctx's only if the store cannot be
// listed at the very beginning.
//
// When ctx ends nothing new is started, and the inserts that are under way get
// [SweepOptions.Grace]. What is still at work then is cancelled. Run returns ctx's
// error once the passes that it started have ended, which they do as soon as their
// adapters heed that; a hand-over that is cut short is unconfirmed. If the process
// dies inside, at most one message of each session is left unconfirmed.
func (s *Sweeper) Run(ctx context.Context) error {
	look := newLookout(s)
	defer look.close()
	l := &loop{
		s: s, found: look.found, ended: make(chan outcome), slots: make(slots, s.options.Parallel),
		owing: map[string]*debtor{}, alarm: time.NewTimer(0),
	}
	defer l.alarm.Stop()
	g, inner := errgroup.WithContext(ctx)
	g.Go(func() error { return look.patrol(inner) })
	g.Go(func() error { look.listen(inner); return nil })
	g.Go(func() error { look.tender.run(inner); return nil })
	g.Go(func() error { return l.run(inner) })
	err := g.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// A phase is what a debtor is at.
type phase int

const (
	ready   phase = iota // it is in the line for a slot
	working              // somebody makes its pass, or looks at it
	waiting              // it waits for its time
)

// A debtor is a session that owes something, as long as it does. It belongs to the
// goroutine of the loop.
type debtor struct {
	id     string
	phase  phase
	due    time.Time // while it waits: when it gets into the line
	place  int       // while it waits: in the heap
	retry  time.Time // before it, it is only looked at
	quiet  time.Time // before it, it is not looked at
	failed int       // attempts in a row
	reason string    // the last error that was logged

	at      standstill // the zero value if a look would not tell
	touched bool       // something changed in its directory since the last attempt or look began
	owes    bool       // it was seen to owe something since then
	nudged  bool       // somebody wanted another pass since then
}

// An outcome is what a debtor's work led to.
type outcome struct {
	of     *debtor
	looked bool // it was only looked at
	moved  bool // deliveries stand elsewhere now
	took   time.Duration
	pass   Attempt
	reason string
}

// A loop decides which session is tried when. It does no work itself, so that
// nothing keeps it waiting.
type loop struct {
	s     *Sweeper
	found <-chan sighting
	ended chan outcome
	slots slots
	work  sync.WaitGroup

	owing map[string]*debtor
	line  []*debtor // ready, first come first served
	wait  calendar
	alarm *time.Timer
}

func (l *loop) run(ctx context.Context) error {
	g, end := l.s.grace(ctx)
	defer end()
	defer l.work.Wait()
	for {
		slots := l.slots
		if len(l.line) == 0 {
			slots = nil
		}
		if len(l.wait) > 0 {
			l.alarm.Reset(time.Until(l.wait[0].due))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case slots <- struct{}{}:
			l.start(g)
		case seen := <-l.found:
			l.seen(seen)
		case <-l.s.nudges.bell:
			l.nudged(l.s.nudges.take())
		case o := <-l.ended:
			l.finish(o)
		case <-l.alarm.C:
			l.ring(time.Now())
		}
	}
}

// seen learns of a session's debt, or that it has none.
func (l *loop) seen(s sighting) {
	x := l.owing[s.id]
	switch {
	case x == nil && s.owes:
		x = &debtor{id: s.id}
		l.owing[s.id] = x
		l.enter(x)
	case x == nil:
	case x.phase == working:
		x.owes = s.owes
		x.touched = x.touched || s.touched
	case !s.owes:
		l.drop(x)
	case x.phase == waiting && s.touched:
		x.touched = true
		heap.Remove(&l.wait, x.place)
		l.rest(x)
	}
}

// start puts the first in the line to work, in the slot that was taken for it.
func (l *loop) start(g *grace) {
	x := l.line[0]
	l.line = slices.Delete(l.line, 0, 1)
	x.phase, x.touched, x.owes, x.nudged = working, false, false, false
	o := outcome{of: x, looked: time.Now().Before(x.retry)}
	at, before := x.at, x.reason
	l.work.Go(func() {
		l.slots.hold(func() {
			begun := time.Now()
			if o.looked {
				now, err := l.s.d.standsAt(x.id, at)
				o.moved = err == nil && at.over(now)
			} else {
				o.pass, o.reason = l.s.attempt(g, x.id, patience, before)
			}
			o.took = time.Since(begun)
		})
		select {
		case l.ended <- o:
		case <-g.ctx.Done():
		}
	})
}

// finish decides how a session goes on after an attempt or a look.
func (l *loop) finish(o outcome) {
	x := o.of
	switch {
	case o.looked && !o.moved:
		// However long the queue is, looking at it takes a hundredth of the time.
		x.quiet = time.Now().Add(max(l.s.options.MinBackoff, 100*o.took))
		l.rest(x)
	case o.looked, o.pass.Err == nil && (x.owes || x.nudged), errors.Is(o.pass.Err, errBudget) && len(o.pass.Delivered) > 0:
		x.failed, x.retry = 0, time.Time{}
		l.enter(x)
	case o.pass.Err == nil, gone(o.pass.Err):
		l.drop(x)
	default:
		l.fail(x, o)
	}
	if x.nudged && x.phase == waiting {
		l.hurry(x)
	}
}

func (l *loop) fail(x *debtor, o outcome) {
	if len(o.pass.Delivered) > 0 {
		x.failed = 0
	}
	x.failed++
	again := x.reason == o.reason
	x.reason = o.reason
	random := l.s.options.Random()
	distance := l.s.backoff.after(x.failed, random)
	at := stopped(o.pass.Err)
	if at.faulty || at.unconfirmed && at == x.at {
		// Neither looking the message up nor the session's policy got it further.
		distance = l.s.backoff.ceiling(random)
	}
	now := time.Now()
	x.at, x.retry, x.quiet = at, now.Add(distance), now.Add(l.s.options.MinBackoff)
	told := *x
	l.work.Go(func() { l.s.tellBackoff(told, again) }) // whoever reads the log keeps nobody waiting
	l.rest(x)
}

// enter puts a session at the end of the line.
func (l *loop) enter(x *debtor) {
	x.phase = ready
	l.line = append(l.line, x)
}

// rest lets a session wait for its next attempt, or for a look if something was
// changed that may hasten it.
func (l *loop) rest(x *debtor) {
	x.phase, x.due = waiting, x.retry
	if x.touched && x.at != (standstill{}) && x.quiet.Before(x.retry) {
		x.due = x.quiet
	}
	heap.Push(&l.wait, x)
}

// ring lets those go on whose time has come.
func (l *loop) ring(now time.Time) {
	for len(l.wait) > 0 && !l.wait[0].due.After(now) {
		l.enter(heap.Pop(&l.wait).(*debtor))
	}
}

// drop forgets a session: it owes nothing, or is gone.
func (l *loop) drop(x *debtor) {
	delete(l.owing, x.id)
	switch x.phase {
	case ready:
		l.line = slices.DeleteFunc(l.line, func(y *debtor) bool { return x == y })
	case waiting:
		heap.Remove(&l.wait, x.place)
	}
}

// A calendar is a heap of those who wait, the next one first.
type calendar []*debtor

func (c calendar) Len() int           { return len(c) }
func (c calendar) Less(i, j int) bool { return c[i].due.Before(c[j].due) }

func (c calendar) Swap(i, j int) {
	c[i], c[j] = c[j], c[i]
	c[i].place, c[j].place = i, j
}

func (c *calendar) Push(x any) {
	d := x.(*debtor)
	d.place = len(*c)
	*c = append(*c, d)
}

func (c *calendar) Pop() any {
	last := len(*c) - 1
	x := (*c)[last]
	(*c)[last] = nil
	*c = (*c)[:last]
	return x
}
