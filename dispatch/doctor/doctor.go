package doctor

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"runtime"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/timeline/session"
)

// What [Options] means where it does not say otherwise.
const (
	DefaultNamed       = 20
	DefaultPatience    = 10 * time.Minute
	DefaultWatch       = time.Second
	DefaultProgramWait = 3 * time.Second
)

// Options configures [Examine]. Store is required.
type Options struct {
	// Store is what is looked over.
	Store *session.Store

	// Version is that of the program that asks; empty is not told.
	Version string

	// Own is the session that the caller says it is, as in DOCKET_SESSION; empty means
	// none.
	Own string

	// Kinds are the adapters that there are. Empty means that the adapters of sessions
	// are not looked at.
	Kinds adapter.Registry

	// Hosted are the names of the kinds whose sessions have a host.
	Hosted []string

	// Programs are those that the adapters need.
	Programs []Program

	// Named is how many sessions of a kind of finding are named. Zero or less means
	// [DefaultNamed].
	Named int

	// Patience is how long a message may be refused before that is a problem. Zero or
	// less means [DefaultPatience].
	Patience time.Duration

	// Watch is the distance between two looks at a lock that is held. Zero or less means
	// [DefaultWatch].
	Watch time.Duration

	// ProgramWait bounds the wait for a program to tell its version. Zero or less means
	// [DefaultProgramWait].
	ProgramWait time.Duration

	// Progress is told of each session before it is looked at. Nil means that nobody is.
	Progress func(i int, id string)

	// Now is the clock. Nil means time.Now.
	Now func() time.Time
}

// Examine looks everything over and yields each finding as soon as it is made, those of
// the store first and those of the machine last. It ends when ctx does, which the
// caller sees at ctx; nothing of its own is left behind then.
//
// It may be called at any time, beside all others that use the store.
func Examine(ctx context.Context, o Options) iter.Seq[Finding] {
	o.Named = positive(o.Named, DefaultNamed)
	o.Patience = positive(o.Patience, DefaultPatience)
	o.Watch = positive(o.Watch, DefaultWatch)
	o.ProgramWait = positive(o.ProgramWait, DefaultProgramWait)
	if o.Now == nil {
		o.Now = time.Now
	}
	return func(yield func(Finding) bool) {
		e := &examination{Options: o, ctx: ctx, yield: yield, named: map[string]int{}, used: map[string]int{}}
		for _, look := range []func(){
			e.version, e.store, e.owner, e.permissions, e.volume, e.probe,
			e.sessions, e.debts, e.hosts, e.locks, e.leftovers, e.notification,
			e.programs, e.own,
		} {
			if e.over() {
				return
			}
			look()
		}
	}
}

func positive[T int | time.Duration](n, otherwise T) T {
	if n <= 0 {
		return otherwise
	}
	return n
}

// An examination is what one call of Examine knows.
type examination struct {
	Options
	ctx   context.Context
	yield func(Finding) bool
	quit  bool // the caller has seen enough

	absent bool           // there is no store
	open   bool           // others can get into the store
	named  map[string]int // findings about sessions, by check
	used   map[string]int // sessions, by their adapter
	tally  tally
}

func (e *examination) over() bool { return e.quit || e.ctx.Err() != nil }

func (e *examination) say(f Finding) {
	if !e.over() {
		e.quit = !e.yield(f)
	}
}

func (e *examination) ok(check, text string, args ...any) {
	e.say(Finding{Check: check, Level: OK, Text: fmt.Sprintf(text, args...)})
}

func (e *examination) note(check, do, text string, args ...any) {
	e.say(Finding{Check: check, Level: Note, Text: fmt.Sprintf(text, args...), Do: do})
}

func (e *examination) problem(check, do, text string, args ...any) {
	e.say(Finding{Check: check, Level: Problem, Text: fmt.Sprintf(text, args...), Do: do})
}

// about says something about a session, as long as not too many have been named for
// the same.
func (e *examination) about(f Finding) {
	e.named[f.Check]++
	if e.named[f.Check] <= e.Named {
		e.say(f)
	}
}

// rest counts those that about did not name.
func (e *examination) rest(check, do string) {
	if more := e.named[check] - e.Named; more > 0 {
		e.problem(check, do, "%s of which the same is to be said", count(more, "more session"))
	}
}

func (e *examination) version() {
	e.ok("version", "docket %s, %s, %s/%s", cmp.Or(e.Version, "unknown"), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
