package host

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/lock/step"
)

// A running is an agent that was started.
type running struct {
	Agent
	ending sync.Once
	gone   chan struct{} // closed once the broker has taken note of its end
	turns  int           // that it finished itself
}

// kill ends the program without waiting for it.
func (r *running) kill() { r.ending.Do(func() { go r.Close() }) }

func (r *running) ended() bool {
	select {
	case <-r.Done():
		return true
	default:
		return false
	}
}

// up returns nil once an agent runs. If none does it waits for one start, and no second:
// a program that ends at once is not started over and over for one prompt. The error is
// a refusal.
func (b *Broker) up(ctx context.Context) error {
	for tried := false; ; {
		var wait <-chan struct{}
		var starts bool
		var err error
		b.with(func(s *state) { wait, starts, err = b.seek(s, tried) })
		if err != nil || wait == nil {
			return err
		}
		select {
		case <-wait:
			tried = tried || starts
		case <-ctx.Done():
			return adapter.Because(adapter.ErrBusy, fmt.Errorf("host: the agent is starting: %w", context.Cause(ctx)))
		}
	}
}

// seek has an agent started if none runs. It returns what to wait for before seeking
// again, which may be a start, and nil if an agent runs.
func (b *Broker) seek(s *state, tried bool) (wait <-chan struct{}, starts bool, err error) {
	switch {
	case s.stopping:
		return nil, false, s.busy()
	case s.agent != nil && s.agent.ended():
		return s.agent.gone, false, nil
	case s.agent != nil:
		return nil, false, nil
	case s.starting != nil:
		return s.starting, true, nil
	}
	if pause := s.notBefore.Sub(b.options.Now()); pause > 0 || tried {
		return nil, false, adapter.Because(adapter.ErrGone, fmt.Errorf("host: the agent is not running (%w): it is started again in %s",
			s.trouble, max(pause, 0).Round(time.Millisecond)))
	}
	s.starting = make(chan struct{})
	b.work.Go(b.start)
	return s.starting, true, nil
}

// start starts the agent's program once.
func (b *Broker) start() {
	ctx, cancel := bounded(b.ctx, b.options.StartTimeout)
	defer cancel()
	seat := &Seat{Session: b.options.Session, OnState: b.publish, noted: b.note}
	agent, err := b.options.Start(ctx, seat)
	if err == nil && agent == nil {
		err = errors.New("host: the Starter returned no agent")
	}
	if err != nil {
		seat.clear()
		b.forget()
		b.unstarted(err)
	} else {
		b.options.Logger.Info("the agent is up")
	}
	b.with(func(s *state) {
		close(s.starting)
		s.starting = nil
		s.wake()
		if err != nil {
			b.armAgain(s)
			return
		}
		s.agent = &running{Agent: agent, gone: make(chan struct{})}
		b.work.Go(func() { b.watch(s.agent) })
		if s.stopping {
			s.agent.kill()
		}
	})
}

// unstarted notes that the start failed, and tells it while no other can begin.
func (b *Broker) unstarted(err error) {
	var again time.Time
	stopping := false
	b.with(func(s *state) {
		b.failed(s, err)
		again, stopping = s.notBefore, s.stopping
	})
	if !stopping {
		b.tellUnstarted(err, again)
	}
}

// failed notes that no agent runs, and why, and until when none is started.
func (b *Broker) failed(s *state, err error) {
	s.trouble = err
	pause := b.options.FirstBackoff << min(s.failures, 16)
	if pause > b.options.LastBackoff || pause <= 0 && b.options.FirstBackoff > 0 {
		pause = b.options.LastBackoff
	}
	s.failures++
	s.notBefore = b.options.Now().Add(pause)
	if s.recorder != nil {
		s.recorder.idle = false // it is told when there is an agent again
	}
}

// armAgain has an agent started once the pause is over, if there is one.
func (b *Broker) armAgain(s *state) {
	if min(b.options.FirstBackoff, b.options.LastBackoff) > 0 && s.again == nil {
		s.again = time.AfterFunc(max(s.notBefore.Sub(b.options.Now()), 0), func() { b.with(b.startAgain) })
	}
}

// startAgain starts an agent whose pause is over.
func (b *Broker) startAgain(s *state) {
	s.again = nil
	_, _, _ = b.seek(s, false) // an error says that the broker is ending, or that its clock says to wait
	s.wake()
}

// watch waits for the end of an agent's program, and ends the turn that it leaves
// open.
func (b *Broker) watch(r *running) {
	<-r.Done()
	err := r.Err()
	if err == nil {
		err = errors.New("the program ended")
	}
	_ = r.Close() // its group, if the program ended by itself
	b.forget()
	b.options.Logger.Info("the agent is down", "error", err) // before another can be up
	b.with(func(s *state) {
		if t := s.open(); t != nil && t.agent == r {
			s.finish(t, Native{}, Finished{Interrupted, CodeAgentExited, err.Error()})
		}
		s.agent = nil
		if r.turns > 0 {
			s.failures = 0
			s.trouble = err
		} else {
			b.failed(s, err)
			b.armAgain(s)
		}
		close(r.gone)
		s.wake()
	})
}

func (b *Broker) publish(f State) { b.with(func(s *state) { s.publish(f) }) }

// bounded limits ctx, if limit is above zero.
func bounded(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, limit)
}

// A sink takes the emissions of one turn.
type sink struct {
	b *Broker
	t *turn
}

// Emit adds to the turn; see [Sink].
func (k sink) Emit(native Native, v Value) {
	k.b.with(func(s *state) { s.emit(k.t, native, v) })
}

// Finish ends the turn; see [Sink].
func (k sink) Finish(native Native, f Finished) {
	k.b.with(func(s *state) {
		if !k.t.finished {
			k.t.agent.turns++
		}
		s.finish(k.t, native, f)
	})
}

// submit hands a dispatched prompt to the agent.
func (b *Broker) submit(t *turn) {
	ctx, cancel := bounded(b.ctx, b.options.SubmitTimeout)
	defer cancel()
	err := guarded(ctx, t.agent, t.prompt, sink{b, t})
	step.At("adapter/host: submitted")
	b.with(func(s *state) { s.submitted(t, err) })
}

// guarded turns a panic of the agent's driver into the answer that it is.
func guarded(ctx context.Context, a Agent, p adapter.Prompt, to Sink) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = adapter.Recovered(r)
		}
	}()
	return a.Submit(ctx, p, to)
}
