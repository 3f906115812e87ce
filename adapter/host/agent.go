package host

import (
	"context"
	"os"
	"slices"
	"sync"

	"github.com/docket-go/docket/adapter"
)

// An Agent drives one program that works through prompts, one at a time. A
// [Broker] owns it. Implementations translate a native protocol; they know no
// turns, tokens or sequences, and must be safe for concurrent use.
//
// An Agent may be an [adapter.Looker], which the broker asks about prompts whose
// fate it does not know itself, a [Decider], and a [Detailer].
type Agent interface {
	// Submit hands one prompt to the program.
	//
	// It must return as soon as the answer is known, by the rules of
	// [adapter.Adapter.Insert], and must not wait for the end of the turn. If it
	// returns nil, the program provably has the prompt, and exactly one
	// sink.Finish must follow, unless it came before already; nothing else ends
	// the turn but the end of the program. If it returns an error, the turn is
	// over: the implementation must have seen to it that nothing more comes of the
	// prompt in this program, or the answer must be unconfirmed. The error's text
	// is kept in the turn log, so it must not carry raw frames.
	//
	// The sink is for this prompt alone and may be used after Submit returned.
	// Submit is not called again before both Submit has returned and the sink has
	// its Finish. ctx bounds Submit, not the turn.
	Submit(ctx context.Context, p adapter.Prompt, sink Sink) error

	// Interrupt asks the program to stop its present turn, and answers whatever
	// permission it waits for with a refusal. The turn still ends by sink.Finish.
	// With no turn at work it does nothing and returns nil.
	Interrupt(ctx context.Context) error

	// Done is closed once the program can take no more prompts: it exited, or
	// its connection is lost. By then every emission that it brought must have
	// gone to its sink. Err then says why; its text may become durable.
	Done() <-chan struct{}
	Err() error

	// Close ends the program with its whole process group, if need be by force,
	// and returns when Done is closed. It may be called more than once, and must
	// work while Submit hangs.
	Close() error
}

// A Decider is an Agent whose program asks for permission.
type Decider interface {
	// Decide answers the permission that the agent emitted as asked, with the id
	// of one of its options. Nil means that the program has the answer.
	Decide(ctx context.Context, permission, option string) error
}

// A Sink takes what comes of one prompt. Its methods never wait for a reader or a
// disk, and may be called by any goroutine; what is called in order is kept in
// order. After Finish everything is ignored: it can never reach another turn.
type Sink interface {
	Emit(n Native, v Value)
	Finish(n Native, f Finished)
}

// A Starter starts an agent's program. It is called again when the program has ended:
// for the next prompt, or, if no turn came to its end since the start, after a pause
// that grows with each failure. It must return soon after ctx ends; ctx does not bound
// the life of the program. An error means that nothing runs; its text is what people
// read in the list of what is owed.
type Starter func(ctx context.Context, s *Seat) (Agent, error)

// A Seat is what a [Broker] offers to the agent that it starts. The zero value
// stands alone, as tests of agents need it.
type Seat struct {
	Session adapter.Session

	// OnState is told of every state that is published. Nil ignores them.
	OnState func(s State)

	noted func(p *Process) error // notes the process group for a later broker

	mu       sync.Mutex
	launched []*Process // those that run, and perhaps the last
}

// Publish says that a fact about the session holds from now on. It belongs to no
// turn and may come at any time; of several values of one name the last counts.
func (s *Seat) Publish(state State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.OnState != nil {
		s.OnState(state)
	}
}

// Launch starts a program whose process group a later broker of the session ends
// if this one cannot; it ends, too, if the [Starter] returns an error. The program
// finds the session and its store in DOCKET_SESSION and DOCKET_HOME, as far as the
// seat knows them, so that it can call docket itself. Errors are those of [Launch].
func (s *Seat) Launch(o ProcessOptions) (*Process, error) {
	o.Env = s.environment(o.Env)
	p, err := Launch(o)
	if err != nil {
		return nil, err
	}
	s.keep(p)
	if s.noted == nil {
		return p, nil
	}
	if err := s.noted(p); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

func (s *Seat) environment(env []string) []string {
	if env == nil {
		env = os.Environ()
	}
	for name, value := range map[string]string{"DOCKET_SESSION": s.Session.ID, "DOCKET_HOME": s.Session.Store} {
		if value != "" {
			env = append(slices.Clip(env), name+"="+value)
		}
	}
	return env
}

// keep notes what was launched, and drops what ended: a seat may launch a program for
// every prompt.
func (s *Seat) keep(p *Process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.launched = slices.DeleteFunc(s.launched, func(p *Process) bool { return p.Err() != nil })
	s.launched = append(s.launched, p)
}

// clear ends what was launched for an agent that did not come to be.
func (s *Seat) clear() {
	s.mu.Lock()
	launched := s.launched
	s.mu.Unlock()
	for _, p := range launched {
		p.Close()
		p.Stdout.Close()
	}
}
