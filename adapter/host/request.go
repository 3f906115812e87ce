package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/lock/step"
)

// prompt hands a prompt to the recorder and waits for what becomes of it.
func (b *Broker) prompt(ctx context.Context, c connection, f frame) frame {
	var err error
	if b.with(func(s *state) { err = s.busy() }); err == nil {
		err = b.up(ctx)
	}
	if err != nil {
		return answerOf(err, "")
	}
	o := &offer{token: b.instance + "." + random(8), prompt: f.prompt(), done: make(chan struct{})}
	b.with(func(s *state) {
		if err = ctx.Err(); err == nil {
			err = s.fenced(c, f.MID)
		}
		if err == nil {
			err = s.busy()
		}
		if err != nil {
			return
		}
		s.offer = o
		s.recorder.out = append(s.recorder.out, promptOf(offerFrame, o.token, o.prompt))
		s.wake()
	})
	if err != nil {
		return answerOf(adapter.Refuse(err), "")
	}
	step.At("adapter/host: offered")
	select {
	case <-o.done:
		return answerOf(o.answer, o.token)
	case <-ctx.Done():
		return answerOf(adapter.Unconfirm(context.Cause(ctx)), "")
	}
}

// answerOf returns the frame for the answer to a prompt.
func answerOf(err error, token string) frame {
	switch adapter.AnswerOf(err) {
	case adapter.Taken:
		return frame{Type: takenFrame, Token: token}
	case adapter.Refused:
		return frame{Type: refusedFrame, Reason: reasonOf(err), Text: err.Error()}
	}
	return frame{Type: unconfirmedFrame, Text: err.Error()}
}

// fenced refuses a prompt whose connection is older than a look at its message: the
// look may have answered that it is absent, while the prompt of a sender that died
// lay unread.
func (s *state) fenced(c connection, mid string) error {
	if fence, looked := s.senders.fences[mid]; looked && c.number < fence {
		return adapter.Because(adapter.ErrBusy, fmt.Errorf("host: message %s was looked up after this connection was made: try again", mid))
	}
	return nil
}

// lookup finds out whether a prompt arrived. One that is on its way is waited for.
func (b *Broker) lookup(ctx context.Context, c connection, mid string) frame {
	presence, err := b.look(ctx, c, mid)
	answer := frame{Type: presenceFrame, State: int(presence)}
	if err != nil {
		answer.Text = err.Error()
	}
	return answer
}

func (b *Broker) look(ctx context.Context, c connection, mid string) (adapter.Presence, error) {
	var under *offer
	b.with(func(s *state) {
		s.senders.fences[mid] = c.number
		switch {
		case s.offer != nil && s.offer.prompt.MID == mid:
			under = s.offer
		case s.turn != nil && s.turn.prompt.MID == mid:
			under = s.turn.offer
		}
	})
	if under != nil {
		select {
		case <-under.done:
		case <-ctx.Done():
			return adapter.CannotTell, context.Cause(ctx)
		}
	}
	var fate adapter.Answer
	var known bool
	var agent *running
	b.with(func(s *state) {
		fate, known = s.fates.of[mid]
		agent = s.agent
	})
	switch {
	case known && fate == adapter.Taken:
		return adapter.Present, nil
	case known && fate == adapter.Refused:
		return adapter.Absent, nil
	}
	if agent != nil {
		if looker, can := agent.Agent.(adapter.Looker); can {
			if p, err := looker.Lookup(ctx, mid); err == nil && p != adapter.CannotTell {
				return p, nil
			}
		}
	}
	if known {
		return adapter.CannotTell, nil
	}
	return b.find(ctx, mid)
}

// find asks the recorder, whose log knows every prompt that any broker dispatched.
func (b *Broker) find(ctx context.Context, mid string) (adapter.Presence, error) {
	found := make(chan adapter.Presence, 1)
	asked := false
	b.with(func(s *state) {
		if r := s.recorder; r != nil {
			asked = true
			r.finds[mid] = append(r.finds[mid], found)
			r.out = append(r.out, frame{Type: findFrame, MID: mid})
			s.wake()
		}
	})
	if !asked {
		return adapter.CannotTell, errors.New("host: nobody records the turns of this host, so nobody can look")
	}
	select {
	case p := <-found:
		return p, nil
	case <-ctx.Done():
		return adapter.CannotTell, context.Cause(ctx)
	}
}

// probe says what the host is doing.
func (b *Broker) probe() (answer frame) {
	b.with(func(s *state) {
		answer = probed(adapter.Idle, nil)
		if err := s.busy(); err != nil {
			answer = probed(stateOf(err), err)
			return
		}
		if s.agent != nil && !s.agent.ended() {
			return
		}
		pause := s.notBefore.Sub(b.options.Now())
		switch {
		case s.starting != nil:
			answer = probed(adapter.Busy, nil)
		case pause > 0:
			answer = probed(adapter.Gone, fmt.Errorf("host: the agent is not running: %w", s.trouble))
		}
	})
	return answer
}

func probed(s adapter.State, err error) frame {
	f := frame{Type: probedFrame, State: int(s)}
	if err != nil && s != adapter.Busy {
		f.Text = err.Error()
	}
	return f
}

// stateOf returns the state in which a host gives that refusal.
func stateOf(err error) adapter.State {
	switch {
	case errors.Is(err, adapter.ErrGone):
		return adapter.Gone
	case errors.Is(err, adapter.ErrBlocked):
		return adapter.Blocked
	}
	return adapter.Busy
}

// interrupt revokes at once what the open turn was asked for, and has the agent stop.
func (b *Broker) interrupt(ctx context.Context) error {
	var t *turn
	b.with(func(s *state) {
		if t = s.open(); t == nil {
			return
		}
		s.revoke(t)
		if t.stop == nil && b.options.InterruptGrace > 0 {
			t.stop = time.AfterFunc(b.options.InterruptGrace, func() { b.giveUp(t) })
		}
	})
	if t == nil {
		return nil
	}
	step.At("adapter/host: revoked")
	return t.agent.Interrupt(ctx)
}

// giveUp ends the program of a turn that did not stop when it was interrupted.
func (b *Broker) giveUp(t *turn) {
	b.with(func(s *state) {
		if t.finished {
			return
		}
		s.finish(t, Native{}, Finished{Cancelled, CodeUnresponsive, "it went on after it was interrupted, and was ended"})
		t.agent.kill()
	})
}

// decide answers a request for permission of the open turn. The answer is recorded
// before the agent has it, since the turn may end with it; if the agent does not take
// it, the request is asked again.
func (b *Broker) decide(ctx context.Context, permission, option string) error {
	var t *turn
	var decider Decider
	var asked Permission
	err := fmt.Errorf("%w: %q with option %q", ErrNoPermission, permission, option)
	b.with(func(s *state) {
		if t = s.open(); t == nil {
			return
		}
		var waits bool
		if asked, waits = t.pending[permission]; !waits {
			return
		}
		i := slices.IndexFunc(asked.Options, func(o Option) bool { return o.ID == option })
		if i < 0 {
			err = noOption(asked, option)
			return
		}
		var can bool
		if decider, can = t.agent.Agent.(Decider); !can {
			err = fmt.Errorf("%w: this agent takes no decisions", ErrNoPermission)
			return
		}
		err = nil
		s.decided(t, permission, outcomeOf(asked.Options[i]))
	})
	if err != nil {
		return err
	}
	if err = decider.Decide(ctx, permission, option); err != nil {
		b.with(func(s *state) { s.ask(t, Native{}, asked) })
	}
	return err
}

// noOption is [ErrNoOption] with the options that there are.
func noOption(asked Permission, option string) error {
	var there []string
	for _, o := range asked.Options {
		there = append(there, fmt.Sprintf("%q", o.ID))
	}
	return fmt.Errorf("%w: %q: give one of %s", ErrNoOption, option, strings.Join(there, ", "))
}

func outcomeOf(o Option) PermissionState {
	if o.Grants {
		return Granted
	}
	return Denied
}
