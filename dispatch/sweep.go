package dispatch

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"
)

// What [SweepOptions] means where it does not say otherwise.
const (
	DefaultSweepInterval = 30 * time.Second
	DefaultSweepPoll     = time.Second
	DefaultMinBackoff    = time.Second
	DefaultMaxBackoff    = 60 * time.Second
	DefaultSweepParallel = 8
)

// patience is how long a pass counts as one of [SweepOptions.Parallel], and after
// which it starts no further insert.
const patience = time.Second

// SweepOptions configures a [Sweeper]. The zero value is ready to use.
type SweepOptions struct {
	// Interval is the distance between two looks at every session of the store,
	// which are the net under the notifications. Zero or less means
	// [DefaultSweepInterval].
	Interval time.Duration

	// Poll takes the place of Interval where the operating system does not notify
	// of changes, or not of all. Zero means [DefaultSweepPoll]. A negative value
	// means that no notification is asked for, and that all sessions are looked at
	// every -Poll.
	Poll time.Duration

	// MinBackoff is the distance between the first attempt at a session that fails
	// and the second; with each further failure it doubles, up to MaxBackoff. Each
	// distance is shortened at random by up to half. Zero or less means
	// [DefaultMinBackoff].
	MinBackoff time.Duration

	// MaxBackoff is the ceiling of the distances, and so the longest time that an
	// agent that takes messages again waits for one. A session that cannot go on
	// before somebody does something, because its oldest message stays unconfirmed
	// or its queue or record cannot be read, is tried at this distance at once. Zero
	// or less means [DefaultMaxBackoff]; less than MinBackoff means MinBackoff.
	MaxBackoff time.Duration

	// Parallel bounds the passes that are made at once. One that is not finished
	// after a second does not count any more: it waits for its harness, and does not
	// keep other sessions waiting. Zero or less means [DefaultSweepParallel].
	Parallel int

	// Grace is how long an insert that is under way when the context ends may go on;
	// then it is cancelled, and its message stays unconfirmed unless the adapter can
	// tell. Zero means [DefaultSweepGrace]; a negative value means as long as the
	// adapter takes.
	Grace time.Duration

	// Hurry ends a Grace at once when it is closed. Nil means that nothing does.
	Hurry <-chan struct{}

	// Tend is called for a session before anything else: at each look at all sessions,
	// and a moment after something in its directory changed. What it sends on behalf of
	// the session, with [Message.NoDrain], the sweeper delivers. It is called for
	// Parallel sessions at once, but never twice at a time for one, and must cost next
	// to nothing where there is nothing to do. Its error is logged, and it is called
	// again at the next look. Nil means that nothing is called.
	Tend func(ctx context.Context, session string) error

	// Passed is called at the end of each pass, by the goroutine that made it, with what
	// was delivered and why it ended: the place to call a person when a message is
	// unconfirmed. While the same thing keeps a session waiting it is called again at each
	// attempt. It is called for several sessions at once, never twice at a time for one,
	// and never for a session that was closed meanwhile; the session's next pass waits
	// until it returns. Nil means that nothing is called.
	Passed func(Attempt)

	// Logger gets the lines of [Options.Logger] about the passes of the Sweeper, and
	//
	//	INFO  backoff                                until, failures: when the session is tried again
	//	INFO  waiting for a pass to end              the context has ended
	//	WARN  cutting a pass short: …                its grace is over
	//	WARN  not tended                             error: of Tend
	//	WARN  not all changes are notified: …        error: of no one session
	//	WARN  the store cannot be listed             error: of no one session
	//
	// Each line but the last two has the session, and the mid where it is about a
	// message. What is as it was at the attempt before is logged at level DEBUG, and a
	// session that owes nothing not at all. Nil means that nothing is logged.
	Logger *slog.Logger

	// Random returns the random numbers in [0, 1) that shorten the distances. Run
	// calls it from one goroutine. Nil means those of math/rand/v2.
	Random func() float64
}

// A Sweeper retries every session of a store that owes something. It is safe for
// concurrent use, and any number of Sweepers in any number of processes may work
// on one store beside any number of senders: a pass that finds another one at work
// on its session leaves it alone.
//
// The trigger of a retry is that a debt is there, not that it came, so that no
// lost notification and no silence keeps a message from its agent for ever.
type Sweeper struct {
	d       *Dispatcher
	options SweepOptions
	backoff backoff
	nudges  *nudges

	inserting atomic.Int64 // see [Sweeper.Inserting]

	newWatcher func() (*fsnotify.Watcher, error)
	addWatch   func(w *fsnotify.Watcher, dir string) error
}

// NewSweeper returns a Sweeper for the sessions of d. It starts nothing.
func NewSweeper(d *Dispatcher, o SweepOptions) *Sweeper {
	o.Interval = positive(o.Interval, DefaultSweepInterval)
	o.MinBackoff = positive(o.MinBackoff, DefaultMinBackoff)
	o.MaxBackoff = max(positive(o.MaxBackoff, DefaultMaxBackoff), o.MinBackoff)
	o.Parallel = positive(o.Parallel, DefaultSweepParallel)
	o.Grace = cmp.Or(o.Grace, DefaultSweepGrace)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Random == nil {
		o.Random = rand.Float64
	}
	s := &Sweeper{d: d, options: o, backoff: backoff{least: o.MinBackoff, most: o.MaxBackoff}, nudges: newNudges()}
	if o.Poll >= 0 && notifies {
		s.newWatcher = fsnotify.NewWatcher
	}
	s.options.Poll = cmp.Or(max(o.Poll, -o.Poll), DefaultSweepPoll)
	s.addWatch = (*fsnotify.Watcher).Add
	return s
}

func positive[T int | time.Duration](n, otherwise T) T {
	if n <= 0 {
		return otherwise
	}
	return n
}

// Swept is what one [Sweeper.Sweep] did.
type Swept struct {
	Delivered int       // messages
	Attempts  []Attempt // one for each session that owed something, by id
}

// An Attempt is one pass of a [Sweeper].
type Attempt struct {
	Pass

	// Err is nil if nothing is owed any more. Otherwise it is as for
	// [Dispatcher.Drain], or [lock.ErrBusy] if another pass was at work: what is
	// owed was not counted then.
	Err error
}

// Sweep tends every session, and then makes one pass for each that owes something, at
// most [SweepOptions.Parallel] at once, whatever failed before, and returns when all
// have ended. A session that was closed meanwhile is left out.
//
// A nil error means that every session was looked at; what a pass met is in its
// [Attempt]. Otherwise the store could not be listed or ctx has ended, and Swept
// says what was done until then; an insert that was under way had its
// [SweepOptions.Grace]. If the process dies inside, at most one message
// of each session is left unconfirmed.
func (s *Sweeper) Sweep(ctx context.Context) (Swept, error) {
	var (
		mu    sync.Mutex
		done  Swept
		work  sync.WaitGroup
		slots = make(slots, s.options.Parallel)
	)
	g, end := s.grace(ctx)
	defer end()
	list := func() error {
		for id, err := range s.d.store.IDs(ctx) {
			if err != nil {
				return err
			}
			if !owes(s.dirOf(id), true) {
				continue
			}
			if err := slots.take(ctx); err != nil {
				return err
			}
			work.Go(func() {
				var a Attempt
				slots.hold(func() { a, _ = s.attempt(g, id, 0, "") })
				if gone(a.Err) {
					return
				}
				mu.Lock()
				defer mu.Unlock()
				done.Delivered += len(a.Delivered)
				done.Attempts = append(done.Attempts, a)
			})
		}
		return nil
	}
	err := newTender(s).all(ctx)
	if err == nil {
		err = list()
	}
	work.Wait()
	s.d.handles.leave()
	slices.SortFunc(done.Attempts, func(a, b Attempt) int { return cmp.Compare(a.Session, b.Session) })
	return done, errors.Join(err, ctx.Err())
}

// dirOf returns the directory of a session.
func (s *Sweeper) dirOf(id string) string { return filepath.Join(s.d.store.SessionsDir(), id) }

// attempt makes one pass and tells of it. It returns the text of the pass's error;
// before is that of the session's last one.
func (s *Sweeper) attempt(g *grace, id string, budget time.Duration, before string) (Attempt, string) {
	var a Attempt
	a.Pass, a.Err = s.d.tryDrain(g, id, budget)
	if scarce(a.Err) {
		s.d.handles.clear()
	}
	text := s.tellAttempt(g, id, a, before)
	if s.options.Passed != nil && !gone(a.Err) {
		s.options.Passed(a)
	}
	return a, text
}

// tellAttempt logs a pass, and returns the text of its error.
func (s *Sweeper) tellAttempt(g *grace, id string, a Attempt, before string) string {
	log := s.options.Logger.With("session", id)
	tellDone(g.inserts, log, a.Pass)
	if a.Err == nil || g.calledOff(a.Err) || quiet(a.Err) {
		return before
	}
	level, text := slog.LevelWarn, a.Err.Error()
	if text == before {
		level = slog.LevelDebug
	}
	s.d.tellStop(g.inserts, log, level, id, a.Err)
	return text
}

// tellBackoff logs when a session is tried again.
func (s *Sweeper) tellBackoff(x debtor, again bool) {
	level := slog.LevelInfo
	if again {
		level = slog.LevelDebug
	}
	log := s.options.Logger
	if !log.Enabled(context.Background(), level) {
		return
	}
	attrs := []any{"session", x.id, "until", x.retry, "failures", x.failed}
	if x.at.mid != "" {
		attrs = append(attrs, "mid", x.at.mid)
	}
	log.Log(context.Background(), level, "backoff", attrs...)
}

// slots bound what is done at once.
type slots chan struct{}

func (s slots) take(ctx context.Context) error {
	select {
	case s <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// hold runs f in a slot that was taken, and frees the slot when f ends or has
// taken all patience.
func (s slots) hold(f func()) {
	free := sync.OnceFunc(func() { <-s })
	defer free()
	late := time.AfterFunc(patience, free)
	defer late.Stop()
	f()
}
