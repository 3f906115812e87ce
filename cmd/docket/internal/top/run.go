package top

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/docket-go/docket/cmd/docket/internal/screen"
)

// A Source is the store as the view needs it. Its methods are called by several
// goroutines at a time. Their texts are harmless, and their errors are for people: one
// line that ends in what to do.
type Source interface {
	// Follow sends what becomes known of the sessions, those that visible returns first,
	// until ctx ends. Send waits until the view has taken it.
	Follow(ctx context.Context, visible func() []string, send func(Batch)) error

	// Debts returns what a session is owed.
	Debts(ctx context.Context, id string) Debts

	// Converse sends the end of a conversation, which is a page even if it is empty, and
	// then what is added to it, until ctx ends.
	Converse(ctx context.Context, id string, send func(Page)) error

	// Before returns the events before the one with that sequence.
	Before(ctx context.Context, id string, seq uint64) (Page, error)

	// Retry, Revoke and Confirm do what the commands of these names ask for, and return
	// what came of it. They are waited for, also when the view has ended.
	Retry(id string) (string, error)
	Revoke(id, mid string) (string, error)
	Confirm(id, mid string, absent bool) (string, error)
}

// A Terminal is what [screen.Terminal] is.
type Terminal interface {
	Size() (width, height int)
	Keys() <-chan screen.Key
	Resized() <-chan struct{}
	Draw(f screen.Frame) error
	Close() error
}

// Options configures Run. The zero value is ready to use.
type Options struct {
	Store string // as the head names it
	Match string // which of its sessions are shown, as patterns for people; empty means all

	// Left is called once the terminal is given back, before the changes that were begun
	// are waited for. Nil means that nothing is called.
	Left func()

	// Late is told what came of a change that ended after the terminal was given back,
	// and whether that is bad. Nil means that nobody is.
	Late func(session, text string, bad bool)

	// Now is the clock. Nil means time.Now.
	Now func() time.Time
}

// Run shows the source on the terminal until somebody leaves or ctx ends, gives the
// terminal back, and waits for the changes that were begun.
//
// Nil means that somebody left, or that ctx ended. An error is that of the terminal or
// of [Source.Follow], which then cannot go on. A panic in any goroutine goes on in this
// one, once the terminal is given back. If the process dies inside, a change may be
// made or not, as the Source says.
func Run(ctx context.Context, t Terminal, s Source, o Options) (err error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	width, height := t.Size()
	looking, stop := context.WithCancel(ctx)
	r := &runner{
		looking: looking, terminal: t, source: s, options: o,
		model: New(o.Store, width, height, o.Now()),
		news:  make(chan func() []Command), panics: make(chan string, 1), listing: map[string]bool{},
	}
	r.model.Only(o.Match)
	defer r.end()
	defer func() {
		stop()
		err = errors.Join(err, t.Close())
	}()
	return r.loop()
}

// A runner joins the model with terminal and source. Only its loop touches the model.
type runner struct {
	looking  context.Context // ends with the view
	terminal Terminal
	source   Source
	options  Options
	model    *Model
	news     chan func() []Command // for the loop
	panics   chan string
	changes  sync.WaitGroup

	shown   shownIDs
	listing map[string]bool // sessions whose debts are read, and whether they are to be read again
	reader  context.CancelFunc
	reading int // counts the conversations that were opened
	failed  error
}

// shownIDs are the visible sessions, for other goroutines.
type shownIDs struct {
	mu  sync.Mutex
	ids []string
}

func (s *shownIDs) set(ids []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids = ids
}

func (s *shownIDs) get() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ids
}

// end waits for the changes that were begun.
func (r *runner) end() {
	if r.options.Left != nil {
		r.options.Left()
	}
	r.changes.Wait()
}

// loop shows the model and changes it, until somebody leaves.
func (r *runner) loop() error {
	r.guard(func() {
		err := r.source.Follow(r.looking, r.shown.get, func(b Batch) { r.post(func() []Command { return r.model.Put(b) }) })
		r.post(func() []Command {
			r.failed = err
			return []Command{{Act: Quit}}
		})
	})
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		r.shown.set(r.model.Visible())
		if err := r.terminal.Draw(r.model.Draw()); err != nil {
			return err
		}
		var commands []Command
		select {
		case <-r.looking.Done():
			return nil
		case text := <-r.panics:
			panic(text)
		case k, more := <-r.terminal.Keys():
			if !more {
				return nil // nobody is there any more
			}
			commands = r.model.Key(k)
		case f := <-r.news:
			commands = f()
		case <-r.terminal.Resized():
		case <-tick.C:
		}
		r.model.Tick(r.options.Now())
		if w, h := r.terminal.Size(); w != r.model.width || h != r.model.height {
			r.model.Resize(w, h)
		}
		if r.carryOut(commands) {
			return r.failed
		}
	}
}

// carryOut does what the model asks for, and reports whether that is to leave.
func (r *runner) carryOut(commands []Command) (leave bool) {
	for _, c := range commands {
		switch c.Act {
		case Quit:
			return true
		case Read:
			r.read(c.Session)
		case Close:
			r.closeReader()
		case List:
			r.list(c.Session)
		case Older:
			r.guard(func() { r.older(c) })
		default:
			r.changes.Add(1)
			r.guard(func() {
				defer r.changes.Done()
				r.change(c)
			})
		}
	}
	return false
}

// guard runs f in a goroutine. A panic of f becomes one of the loop.
func (r *runner) guard(f func()) {
	go func() {
		defer func() {
			if p := recover(); p != nil {
				select {
				case r.panics <- fmt.Sprintf("%v\n\n%s", p, debug.Stack()):
				default:
				}
			}
		}()
		f()
	}()
}

// post has the loop call f, and reports whether the view lasts for that.
func (r *runner) post(f func() []Command) bool {
	select {
	case r.news <- f:
		return true
	case <-r.looking.Done():
		return false
	}
}

// read begins to read a conversation, and ends the one before.
func (r *runner) read(id string) {
	r.closeReader()
	ctx, stop := context.WithCancel(r.looking)
	r.reader = stop
	r.reading++
	turn := r.reading
	post := func(f func() []Command) {
		r.post(func() []Command {
			if r.reading != turn || ctx.Err() != nil {
				return nil // another one is read by now
			}
			return f()
		})
	}
	r.guard(func() {
		err := r.source.Converse(ctx, id, func(p Page) { post(func() []Command { return r.model.PutPage(p) }) })
		if err != nil {
			post(func() []Command { return r.model.Done(Command{Act: Read, Session: id}, err.Error(), true) })
		}
	})
}

func (r *runner) closeReader() {
	if r.reader != nil {
		r.reader()
		r.reader = nil
	}
}

func (r *runner) older(c Command) {
	p, err := r.source.Before(r.looking, c.Session, c.Before)
	r.post(func() []Command {
		if err != nil {
			return r.model.Done(c, err.Error(), true)
		}
		return r.model.PutPage(p)
	})
}

// list reads what a session is owed. A wish that comes meanwhile is one more reading.
func (r *runner) list(id string) {
	if _, busy := r.listing[id]; busy {
		r.listing[id] = true
		return
	}
	r.listing[id] = false
	r.guard(func() {
		d := r.source.Debts(r.looking, id)
		r.post(func() []Command {
			again := r.listing[id]
			delete(r.listing, id)
			commands := r.model.PutDebts(d)
			if again {
				commands = append(commands, Command{Act: List, Session: id})
			}
			return commands
		})
	})
}

func (r *runner) change(c Command) {
	var text string
	var err error
	switch c.Act {
	case Retry:
		text, err = r.source.Retry(c.Session)
	case Revoke:
		text, err = r.source.Revoke(c.Session, c.MID)
	default:
		text, err = r.source.Confirm(c.Session, c.MID, c.Act == Absent)
	}
	if err != nil {
		text = err.Error()
	}
	told := r.post(func() []Command { return r.model.Done(c, text, err != nil) })
	if !told && r.options.Late != nil {
		r.options.Late(c.Session, text, err != nil)
	}
}
