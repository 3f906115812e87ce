package oneshot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/lock/step"
)

// Kind is the adapter "oneshot" for an [adapter.Registry]: it hands prompts to the
// session's host, which runs a process for each.
var Kind = host.KindOf("oneshot", "hands prompts to the session's host, which runs one process for each")

// Options configures an [Agent]. The zero value is ready to use.
type Options struct {
	// Store keeps the program's id of the conversation, so that the next prompt goes on
	// with it. [Starter] takes a [FileStore] in the session's directory if it is nil;
	// without a directory every prompt begins a conversation.
	Store Store

	// Settle is how long a program that prints nothing before its model answers must
	// live on after it has read the prompt, to count as having taken it. Zero means 2
	// seconds; a negative value means not at all.
	Settle time.Duration

	// ExitGrace is how long a program may go on after the event that ends its turn,
	// before it is ended. Zero means 30 seconds.
	ExitGrace time.Duration

	// MaxLineBytes bounds an event. Of a longer one only the fields at its beginning
	// are read. Zero means 16 MiB.
	MaxLineBytes int
}

func (o Options) withDefaults() Options {
	o.Settle = cmp.Or(o.Settle, 2*time.Second)
	o.ExitGrace = cmp.Or(o.ExitGrace, 30*time.Second)
	o.MaxLineBytes = cmp.Or(o.MaxLineBytes, 16<<20)
	return o
}

// An Agent is a [host.Agent] that starts one process for each prompt. Between prompts
// nothing runs. Make it with [Starter]. It is safe for concurrent use.
type Agent struct {
	preset  Preset
	process host.ProcessOptions
	dir     string // the working directory, absolute
	options Options
	seat    *host.Seat
	done    chan struct{}

	mu      sync.Mutex
	turn    *turn  // the one at work, or nil
	closed  bool   // no prompt is taken any more
	suspect string // a conversation that the last program could perhaps not go on with
	doubts  int    // how much speaks for that
	told    string // the id that was published last
	spent   spending
}

// A turn is one prompt that a process has or is about to get.
type turn struct {
	mid         string
	sink        host.Sink
	run         *run // the present process; nil while there is none
	interrupted bool
	notice      *host.Diagnostic
	over        chan struct{} // closed once nothing more comes of it
}

// Starter returns what makes an agent for a [host.Broker]. Process configures the
// programs to come; its Args replace the command of the preset if there are any, and
// the arguments for the conversation follow them. The start fails if the program
// cannot be found.
func Starter(p Preset, process host.ProcessOptions, o Options) host.Starter {
	return func(_ context.Context, seat *host.Seat) (host.Agent, error) {
		return open(p, process, seat, o)
	}
}

func open(p Preset, process host.ProcessOptions, seat *host.Seat, o Options) (*Agent, error) {
	command := p.args(process.Args, "")
	if len(command) == 0 || p.mapper == nil {
		return nil, fmt.Errorf("%w: %q", ErrPreset, p.Name)
	}
	if _, err := exec.LookPath(command[0]); err != nil {
		return nil, fmt.Errorf("oneshot: %s: %w", p.Name, err)
	}
	dir, err := filepath.Abs(process.Dir)
	if err != nil {
		return nil, fmt.Errorf("oneshot: working directory: %w", err)
	}
	if o.Store == nil && seat.Session.Dir != "" {
		o.Store = FileStore{Dir: seat.Session.Dir, Preset: p.Name}
	}
	return &Agent{preset: p, process: process, dir: dir, options: o.withDefaults(), seat: seat, done: make(chan struct{})}, nil
}

// errClosed is why an agent takes no prompts that was closed.
var errClosed = errors.New("oneshot: the agent was told to end")

// Submit starts a process for the prompt; see [host.Agent].
//
// Nil promises that the program has all of the prompt and has begun with it; what
// proves that is said with each preset. It is refused while the process of another
// prompt runs ([adapter.ErrBusy]), when the program cannot be started
// ([adapter.ErrGone]), and when it ended or was ended before it can have asked a
// model. It is unconfirmed when the program had read the prompt and ended, or was
// ended because ctx did, and nothing shows how far it came. After an error the
// process is gone. If this process dies inside, nobody knows.
func (a *Agent) Submit(ctx context.Context, p adapter.Prompt, sink host.Sink) error {
	if ctx.Err() != nil {
		return adapter.Refuse(context.Cause(ctx))
	}
	if !utf8.ValidString(p.Text) {
		return adapter.Refuse(errors.New("oneshot: the text is not valid UTF-8"))
	}
	t, err := a.begin(p, sink)
	if err != nil {
		return err
	}
	if err := a.deliver(ctx, t, p.Text); err != nil {
		a.over(t)
		return err
	}
	return nil
}

func (a *Agent) begin(p adapter.Prompt, sink host.Sink) (*turn, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.closed:
		return nil, adapter.Because(adapter.ErrGone, errClosed)
	case a.turn != nil:
		return nil, adapter.Because(adapter.ErrBusy, fmt.Errorf("oneshot: a process is at work on message %s", a.turn.mid))
	}
	a.turn = &turn{mid: p.MID, sink: sink, over: make(chan struct{})}
	return a.turn, nil
}

// over notes that nothing more comes of a turn.
func (a *Agent) over(t *turn) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.turn = nil
	close(t.over)
}

// deliver starts the process, and once more without the conversation of before if the
// program cannot go on with that.
func (a *Agent) deliver(ctx context.Context, t *turn, text string) error {
	id, lost, err := a.known()
	if err != nil {
		return adapter.Refuse(err)
	}
	if lost {
		t.notice = &contextLost
	}
	err = a.attempt(ctx, t, text, id)
	if id == "" || !errors.Is(err, errNoBegin) {
		return err
	}
	if adapter.AnswerOf(err) != adapter.Refused { // it may have begun: a second process might be a second time
		a.doubt(id, enoughDoubts)
		return err
	}
	t.notice = &contextLost
	again := a.attempt(ctx, t, text, "")
	if adapter.AnswerOf(again) == adapter.Refused {
		return err
	}
	return again
}

var contextLost = host.Diagnostic{
	Severity: host.Warning, Code: CodeContextLost,
	Text: "the program could not go on with its conversation of before: a new one began",
}

// attempt starts one process and waits until it has begun with the prompt.
func (a *Agent) attempt(ctx context.Context, t *turn, text, id string) error {
	r, err := a.start(t, id)
	if err != nil {
		return err
	}
	step.At("adapter/oneshot: process is started")
	go r.write(text)
	go r.read()
	err = r.await(ctx)
	r.decide(err == nil)
	if err == nil {
		return nil
	}
	r.process.Terminate()
	<-r.over
	return r.answer(err)
}

// start starts the process, unless the turn is not wanted any more.
func (a *Agent) start(t *turn, id string) (*run, error) {
	o := a.process
	o.Args = a.preset.args(o.Args, id)
	p, err := a.seat.Launch(o)
	if err != nil {
		return nil, adapter.Because(adapter.ErrGone, err)
	}
	r := newRun(a, t, p, id)
	a.mu.Lock()
	unwanted := a.closed || t.interrupted
	if !unwanted {
		t.run = r
	}
	a.mu.Unlock()
	if unwanted {
		p.Terminate()
		_ = p.Close()
		p.Stdout.Close()
		return nil, adapter.Refuse(errors.New("oneshot: the message was stopped before its process began"))
	}
	return r, nil
}

// Interrupt asks the process of the present turn to end, with its whole group, and
// kills it if it does not within the grace; see [host.Agent]. It does not wait for that.
func (a *Agent) Interrupt(context.Context) error {
	a.mu.Lock()
	t := a.turn
	if t != nil {
		t.interrupted = true
	}
	a.mu.Unlock()
	if t != nil {
		a.stop(t)
	}
	return nil
}

// stop ends the process of a turn, if it has one.
func (a *Agent) stop(t *turn) {
	a.mu.Lock()
	r := t.run
	a.mu.Unlock()
	if r != nil {
		r.process.Terminate()
	}
}

// Done is closed by [Agent.Close] alone: the end of a process is the end of its turn,
// and no more.
func (a *Agent) Done() <-chan struct{} { return a.done }

// Err says why no prompt is taken any more, once Done is closed.
func (a *Agent) Err() error {
	select {
	case <-a.done:
		return errClosed
	default:
		return nil
	}
}

// Close ends the process that is at work, if there is one, and its turn with it. It
// returns when Done is closed.
func (a *Agent) Close() error {
	a.mu.Lock()
	first, t := !a.closed, a.turn
	a.closed = true
	a.mu.Unlock()
	if first {
		if t != nil {
			a.stop(t)
			<-t.over
		}
		close(a.done)
	}
	<-a.done
	return nil
}
