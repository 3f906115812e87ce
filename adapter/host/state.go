package host

import (
	"errors"
	"fmt"
	"time"

	"github.com/docket-go/docket/adapter"
)

// Codes of the [Diagnostic] that a broker emits before the [Finished] of a turn
// whose Submit did not return nil: they say which of the two answers it was.
const (
	CodeSubmitRefused     = "submit_refused"     // nothing of the prompt reached the agent
	CodeSubmitUnconfirmed = "submit_unconfirmed" // it may or may not have it
)

// CodePermissionLost is the code of the [Diagnostic] that stands for a request for
// permission that nobody can answer.
const CodePermissionLost = "permission_lost"

// An offer is a prompt on its way: first to the recorder, then to the agent.
type offer struct {
	token  string
	prompt adapter.Prompt
	done   chan struct{} // closed with the answer
	answer error
}

func (o *offer) resolved() bool {
	select {
	case <-o.done:
		return true
	default:
		return false
	}
}

// A turn is what came of a prompt that was dispatched.
type turn struct {
	*offer
	agent   *running
	replay  replay
	pending map[string]Permission // asked, without an answer

	finished bool // the replay ends with a Finished
	ready    bool // the recorder has recorded that and cleaned up
	stop     *time.Timer
}

// A state is what a broker changes under its mutex: see [Broker.with].
type state struct {
	recorder *recorder // that is attached, or nil
	offer    *offer    // that the recorder has not answered, or nil
	turn     *turn     // the last that was dispatched, or nil
	facts    map[string]string
	fates    fates

	agent     *running      // nil while none runs
	starting  chan struct{} // closed when the present start has ended
	failures  int           // starts since the last turn that an agent finished
	notBefore time.Time     // the next start
	trouble   error         // why none runs
	again     *time.Timer   // starts one after the pause; nil when none is due
	stopping  bool

	senders senders
	replays int // bytes that a replay may hold
}

// busy returns the refusal of a prompt that comes now, and nil if the host is idle.
func (s *state) busy() error {
	switch {
	case s.stopping:
		return adapter.Because(adapter.ErrGone, errors.New("host: the host is ending: start it again"))
	case s.recorder == nil:
		return adapter.Because(adapter.ErrBlocked, errors.New("host: nobody records the turns of this host: start the program that does"))
	case s.offer != nil:
		return adapter.Because(adapter.ErrBusy, fmt.Errorf("host: message %s is on its way to the agent", s.offer.prompt.MID))
	case s.turn != nil && (!s.turn.finished || !s.turn.resolved()):
		return adapter.Because(adapter.ErrBusy, fmt.Errorf("host: the agent is at work on message %s", s.turn.prompt.MID))
	case s.turn != nil && !s.turn.ready:
		return adapter.Because(adapter.ErrBusy, fmt.Errorf("host: the end of the turn of message %s is being recorded", s.turn.prompt.MID))
	case !s.recorder.ready:
		return adapter.Because(adapter.ErrBusy, errors.New("host: the recorder of this host is catching up"))
	}
	return nil
}

// open returns the turn that is at work, or nil.
func (s *state) open() *turn {
	if s.turn == nil || s.turn.finished {
		return nil
	}
	return s.turn
}

// resolve gives an offer its answer. The first stands.
func (s *state) resolve(o *offer, answer error) {
	if o.resolved() {
		return
	}
	o.answer = answer
	s.fates.set(o.prompt.MID, adapter.AnswerOf(answer))
	close(o.done)
	s.wake()
}

// emit adds what the agent emitted to the turn, and ends a turn that has emitted
// more than may wait for a recorder.
func (s *state) emit(t *turn, native Native, v Value) {
	native = native.tame()
	for _, v := range tame(v) {
		if t.finished {
			return
		}
		if p, asks := v.(Permission); asks {
			if _, twice := t.pending[p.ID]; twice {
				continue
			}
			if p.ID == "" || len(t.pending) >= maxFacts {
				v = Diagnostic{Problem, CodePermissionLost, "a request for permission without an id, or one too many, was not passed on: " + p.Title}
			} else {
				t.pending[p.ID] = p
			}
		}
		s.add(t, native, v)
		if t.replay.size > s.replays {
			s.finish(t, Native{}, Finished{Interrupted, CodeReplayOverflow,
				fmt.Sprintf("more than %d bytes were waiting to be recorded", s.replays)})
			t.agent.kill()
		}
	}
}

func (s *state) add(t *turn, native Native, v Value) {
	t.replay.add(native, v)
	s.wake()
}

// finish ends a turn: what it was asked for is revoked, and the terminal is its last
// emission. The first terminal stands.
func (s *state) finish(t *turn, native Native, f Finished) {
	if t.finished {
		return
	}
	s.revoke(t)
	s.add(t, native.tame(), tameFinished(f))
	t.finished = true
	if t.stop != nil {
		t.stop.Stop()
	}
}

// revoke takes back the requests for permission that nobody has answered.
func (s *state) revoke(t *turn) {
	for _, id := range sortedKeys(t.pending) {
		s.decided(t, id, Revoked)
	}
}

// ask records that a request for permission waits for an answer.
func (s *state) ask(t *turn, native Native, p Permission) {
	if t.finished {
		return
	}
	t.pending[p.ID] = p
	s.add(t, native, p)
}

// decided records what became of a request for permission.
func (s *state) decided(t *turn, id string, state PermissionState) {
	p, asked := t.pending[id]
	if !asked || t.finished {
		return
	}
	delete(t.pending, id)
	p.State, p.Options = state, nil
	s.add(t, Native{}, p)
}

// submitted takes the answer of the agent to a prompt.
func (s *state) submitted(t *turn, err error) {
	if err != nil && adapter.AnswerOf(err) == adapter.Refused && t.replay.last() > 0 {
		err = adapter.Unconfirm(fmt.Errorf("%w, though something came of it", err))
	}
	if err != nil && !t.finished {
		code := CodeSubmitUnconfirmed
		if adapter.AnswerOf(err) == adapter.Refused {
			code = CodeSubmitRefused
		}
		said := clip(err.Error(), maxTitle)
		s.add(t, Native{}, Diagnostic{Problem, code, said})
		s.finish(t, Native{}, Finished{Failure, CodeSubmitFailed, said})
	}
	s.resolve(t.offer, err)
}

// publish keeps a fact about the session.
func (s *state) publish(f State) {
	f.Name, f.Value = clip(f.Name, maxName), clip(f.Value, maxFact)
	if old, known := s.facts[f.Name]; f.Name == "" || known && old == f.Value || !known && len(s.facts) >= maxFacts {
		return
	}
	s.facts[f.Name] = f.Value
	if s.recorder != nil {
		s.recorder.news[f.Name] = f.Value
	}
	s.wake()
}

// wake tells the recorder's writer that there is something to send.
func (s *state) wake() {
	if s.recorder == nil {
		return
	}
	select {
	case s.recorder.wakeup <- struct{}{}:
	default:
	}
}
