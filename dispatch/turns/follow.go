package turns

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/lock/step"
	"github.com/docket-go/docket/timeline/turn"
)

// ackEvery is after how many emissions the broker is told that they are recorded.
const ackEvery = 32

// follow records what the broker says until the connection ends.
func (r *Recorder) follow(ctx context.Context, owner *host.Owner) error {
	for {
		n, err := owner.Next()
		if err != nil {
			return err
		}
		switch n := n.(type) {
		case host.Offer:
			err = r.offered(ctx, owner, n)
		case host.Emission:
			err = r.emitted(ctx, owner, n)
		case host.Fact:
			err = r.fact(ctx, n)
		case host.Idle:
			if !r.refused { // else it would be refused again, and again
				r.drain(ctx)
			}
		case host.Question:
			r.work.Go(func() { _ = owner.Answer(n, r.find(ctx, n.MID)) })
		}
		if err != nil {
			return err
		}
	}
}

// offered starts the turn of a prompt, and has it dispatched after that.
func (r *Recorder) offered(ctx context.Context, owner *host.Owner, o host.Offer) error {
	step.At("dispatch/turns: offered")
	t, err := r.writer.Start(ctx, turn.Started{MID: o.Prompt.MID, Token: o.Token, Attributes: o.Prompt.Attributes})
	if err != nil {
		said := fmt.Errorf("the turn cannot be recorded: %w", err)
		return errors.Join(owner.Reject(o.Token, adapter.Because(adapter.ErrBlocked, said)), r.writer.Err())
	}
	r.begin(t)
	r.options.Logger.Info("turn starts", "turn", t.ID(), "mid", t.MID())
	step.At("dispatch/turns: started")
	if err := owner.Dispatch(o.Token); err != nil {
		return err
	}
	step.At("dispatch/turns: dispatched")
	return nil
}

// emitted records one emission.
func (r *Recorder) emitted(ctx context.Context, owner *host.Owner, e host.Emission) error {
	t := r.turn
	if t == nil || t.Token() != e.Token {
		return fmt.Errorf("%w: an emission of token %.80q, which is not the turn's", host.ErrProtocol, e.Token)
	}
	if f, terminal := e.Value.(host.Finished); terminal {
		return r.finished(ctx, owner, e, f)
	}
	payload := payloadOf(e.Value)
	_, err := t.Emit(ctx, nativeOf(e), payload)
	if errors.Is(err, turn.ErrText) || errors.Is(err, turn.ErrEvent) || isTooLarge(err) {
		// It keeps its place, so that nothing is missing without a word.
		_, err = t.Emit(ctx, turn.Native{Broker: e.N}, turn.Diagnostic{Severity: turn.SeverityError, Code: CodeNotRecorded, Text: err.Error()})
	}
	if err != nil && !errors.Is(err, turn.ErrReplayed) {
		return err
	}
	step.At("dispatch/turns: recorded")
	if p, changes := payload.(turn.Permission); changes {
		r.permission(p)
		r.tell(ctx, Pending{Turn: t.ID(), Permissions: r.asked})
	}
	if e.N%ackEvery == 0 {
		return owner.Ack(e.Token, e.N)
	}
	return nil
}

// CodeNotRecorded is the code of the [turn.Diagnostic] that stands where an emission
// could not be stored.
const CodeNotRecorded = "not_recorded"

// finished records the end of the turn, and what follows from it.
func (r *Recorder) finished(ctx context.Context, owner *host.Owner, e host.Emission, f host.Finished) error {
	over, err := r.turn.End(ctx, nativeOf(e), turn.Finished{Outcome: turn.Outcome(f.Outcome), Code: f.Code, Diagnostic: f.Diagnostic})
	if err != nil && !errors.Is(err, turn.ErrBarrier) {
		return err
	}
	r.tellOver(r.turn, over)
	r.refused = f.Code == host.CodeSubmitFailed
	step.At("dispatch/turns: finished")
	if err := owner.Ack(e.Token, e.N); err != nil {
		return err
	}
	r.readySoon(ctx, owner, e.Token)
	return nil
}

// fact publishes a fact about the session, unless it is what the log says already.
func (r *Recorder) fact(ctx context.Context, f host.Fact) error {
	if now, known := r.writer.State()[f.Name]; known && now == f.Value {
		return nil
	}
	_, err := r.writer.Publish(ctx, turn.Native{}, turn.State{Name: f.Name, Value: f.Value})
	if err != nil && r.writer.Err() == nil && ctx.Err() == nil {
		r.options.Logger.Warn("fact not recorded", "error", err, "name", f.Name)
		return nil
	}
	return err
}

// permission keeps what is asked and not answered.
func (r *Recorder) permission(p turn.Permission) {
	r.asked = slices.DeleteFunc(slices.Clone(r.asked), func(asked turn.Permission) bool { return asked.ID == p.ID })
	if p.State == turn.PermissionAsked {
		r.asked = append(r.asked, p)
	}
}

// find says whether the prompt with that mid reached the agent, as far as the log
// proves it. That it was refused once proves nothing about an earlier hand-over.
func (r *Recorder) find(ctx context.Context, mid string) adapter.Presence {
	last, ok, err := r.Log().Answers(ctx, mid)
	if err != nil {
		return adapter.CannotTell
	}
	if !ok {
		return adapter.Absent // a prompt is dispatched only after its turn is in the log
	}
	found := r.proven(ctx, last)
	if found != adapter.Absent {
		return found
	}
	begin, err := r.Log().Start(ctx)
	if err != nil {
		return adapter.CannotTell
	}
	for e, err := range r.Log().History(ctx, begin) {
		if err != nil {
			return adapter.CannotTell
		}
		if e.Seq == last.Seq {
			break
		}
		if s, ok := e.Payload.(turn.Started); !ok || s.MID != mid {
			continue
		}
		if p := r.proven(ctx, e); p != adapter.Absent {
			return p
		}
	}
	return adapter.Absent
}

// proven says what one turn proves about its prompt.
func (r *Recorder) proven(ctx context.Context, started turn.Event) adapter.Presence {
	for e, err := range r.Log().History(ctx, started.Next) {
		if err != nil {
			return adapter.CannotTell
		}
		if e.Turn != started.Turn {
			continue
		}
		if p := proof(e.Payload); p != adapter.CannotTell {
			return p
		}
		if _, over := e.Payload.(turn.Finished); over {
			break
		}
	}
	return adapter.CannotTell
}

// proof says what an event of a turn proves about the prompt that started it.
func proof(p turn.Payload) adapter.Presence {
	switch p := p.(type) {
	case turn.Text, turn.Thought, turn.Tool, turn.Permission, turn.Usage, turn.ResultObserved:
		return adapter.Present
	case turn.Diagnostic:
		if p.Code == host.CodeSubmitRefused {
			return adapter.Absent
		}
	case turn.Finished:
		if p.Outcome == turn.Success {
			return adapter.Present
		}
	}
	return adapter.CannotTell
}
