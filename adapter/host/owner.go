package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/lock/step"
)

// A Notice is what a broker tells its recorder: [Offer], [Emission], [Fact],
// [Question] or [Idle].
type Notice interface{ notice() }

// Offer is a prompt for which the recorder starts a turn, bound to the token, before
// it answers with [Owner.Dispatch] or, if no turn can start, with [Owner.Reject].
type Offer struct {
	Token  string
	Prompt adapter.Prompt
}

// Fact is a fact about the session that holds now. It may be told again.
type Fact struct{ State }

// Question asks whether the prompt with that mid reached the agent, as far as what
// was recorded says; [Owner.Answer] answers it.
type Question struct{ MID string }

// Idle says that the host can take a prompt: for the first time, or again after a turn.
// It is the moment to have the next message handed over.
type Idle struct{}

func (Idle) notice()     {}
func (Offer) notice()    {}
func (Emission) notice() {}
func (Fact) notice()     {}
func (Question) notice() {}

// An Attachment is what a broker has when a recorder attaches.
type Attachment struct {
	Token    string // of the active or last turn; empty means that there was none
	Last     uint64 // the number of its newest emission
	Finished bool   // that one is its [Finished]
	Ready    bool   // a recorder had recorded it and cleaned up

	instance string
}

// Minted reports whether this very broker made the token. If it did and Token is
// another, the prompt was never dispatched.
func (a Attachment) Minted(token string) bool { return strings.HasPrefix(token, a.instance+".") }

// An Owner is the connection of the one recorder to a broker. [Owner.Next] is for one
// goroutine; the other methods may be called by any. Their errors mean that the
// connection is lost.
type Owner struct {
	wire   *wire
	has    Attachment
	early  []Notice // came before the answer to Rebind
	closed sync.Once
}

// Attach connects to the session's broker as its recorder. The error is
// [ErrNoHost], which proves that no broker listens, [ErrOwned] when another
// recorder is attached or its connection has not ended yet, [ErrVersion], or
// another that proves nothing.
func Attach(ctx context.Context, dir string) (*Owner, error) {
	w, welcome, err := dial(ctx, dir)
	if err != nil {
		return nil, err
	}
	release := w.until(ctx)
	o := &Owner{wire: w}
	err = w.write(frame{Type: helloFrame, Version: Version, Role: recorderRole})
	var f frame
	if err == nil {
		f, err = w.read()
	}
	if err == nil {
		if err = f.told(); err == nil && f.Type != attachedFrame {
			err = fmt.Errorf("%w: %s for an attachment", ErrProtocol, f.Type)
		}
	}
	if !release() {
		err = context.Cause(ctx)
	}
	if err != nil {
		w.close()
		return nil, fmt.Errorf("host: attach: %w", err)
	}
	o.has = Attachment{f.Token, f.N, f.Finished, f.Ready, welcome.Instance}
	step.At("adapter/host: attached")
	return o, nil
}

// Attachment returns what the broker had when the connection was made.
func (o *Owner) Attachment() Attachment { return o.has }

// Rebind has the broker send the emissions of the token behind number after, and then
// what comes, without dispatching anything. The error is [ErrToken] or [ErrGap] if
// the broker cannot; the connection stays usable then. It is called before
// [Owner.Ready], by the goroutine that calls Next.
func (o *Owner) Rebind(token string, after uint64) error {
	if err := o.wire.write(frame{Type: rebindFrame, Token: token, N: after}); err != nil {
		return err
	}
	for {
		f, err := o.wire.read()
		switch {
		case err != nil:
			return err
		case f.Type == doneFrame:
			step.At("adapter/host: rebound")
			return nil
		case f.told() != nil:
			return f.told()
		}
		n, err := f.notice()
		if err != nil {
			return err
		}
		o.early = append(o.early, n)
	}
}

// Next waits for what the broker says. [io.EOF] means that the broker is gone, or
// that its connection is.
func (o *Owner) Next() (Notice, error) {
	if len(o.early) > 0 {
		n := o.early[0]
		o.early = o.early[1:]
		return n, nil
	}
	f, err := o.wire.read()
	if err != nil {
		if !errors.Is(err, ErrProtocol) {
			err = fmt.Errorf("%w: %w", io.EOF, err)
		}
		return nil, err
	}
	return f.notice()
}

// notice reads what the broker says.
func (f frame) notice() (Notice, error) {
	switch f.Type {
	case offerFrame:
		return Offer{f.Token, f.prompt()}, nil
	case emissionFrame:
		e, err := f.emission()
		return e, err
	case factFrame:
		return Fact{State{f.Name, f.Text}}, nil
	case findFrame:
		return Question{f.MID}, nil
	case idleFrame:
		return Idle{}, nil
	}
	if err := f.told(); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("%w: %s for a notice", ErrProtocol, f.Type)
}

// Dispatch says that the turn of the offered token has started, durably, and has the
// broker hand the prompt to its agent.
func (o *Owner) Dispatch(token string) error {
	return o.wire.write(frame{Type: dispatchFrame, Token: token})
}

// Reject gives an offered prompt back: no turn started. The sender gets err as a
// refusal.
func (o *Owner) Reject(token string, err error) error {
	return o.wire.write(frame{Type: rejectFrame, Token: token, Reason: reasonOf(err), Text: err.Error()})
}

// Ack says that the emissions of the token up to number n are recorded, durably, so
// that the broker need not keep them. No later Rebind can go back behind n.
func (o *Owner) Ack(token string, n uint64) error {
	return o.wire.write(frame{Type: ackFrame, Token: token, N: n})
}

// Ready says that the end of the token's turn is recorded and cleaned up after, so
// that the next prompt may come. With an empty token it says so of a broker that had
// no turn.
func (o *Owner) Ready(token string) error {
	return o.wire.write(frame{Type: readyFrame, Token: token})
}

// Abandon ends the token's turn, and the agent's program with it: nothing of it can be
// recorded any more.
func (o *Owner) Abandon(token string) error {
	return o.wire.write(frame{Type: abandonFrame, Token: token})
}

// Answer answers a [Question].
func (o *Owner) Answer(q Question, p adapter.Presence) error {
	return o.wire.write(frame{Type: foundFrame, MID: q.MID, State: int(p)})
}

// Close lets the broker go, which keeps its agent and what it emits for the next
// recorder. Next returns then.
func (o *Owner) Close() error {
	var err error
	o.closed.Do(func() { err = o.wire.close() })
	return err
}
