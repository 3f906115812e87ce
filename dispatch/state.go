package dispatch

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/docket-go/docket/timeline"
)

// A Condition is the one state that a message is in.
type Condition string

// The conditions.
const (
	Owed        Condition = "owed"        // not handed over, refused, or being handed over now
	Unconfirmed Condition = "unconfirmed" // handed over, and nobody knows whether it arrived: somebody has to decide
	Delivered   Condition = "delivered"   // the harness has it
	Revoked     Condition = "revoked"     // taken back before it was handed over, or in place of a confirmation
)

// A State is what the files say about one message.
type State struct {
	Session     string
	MID         string
	Condition   Condition
	AcceptedAt  time.Time
	EndedAt     time.Time // when it was delivered or revoked; zero before
	Reason      string    // why it was revoked
	Attempts    int       // while it is owed or unconfirmed
	LastAttempt time.Time // zero if there was none
	LastError   string
	Handing     bool // it is owed, and being handed over now, since LastAttempt; see [Debt]
}

// State returns the one honest state of a message. It takes no lock, so it is true
// of a moment during the call. The error is [session.ErrNotFound],
// [ErrNoMessage], [queue.ErrCorrupt], or of the disk.
//
// A message of another writer, who leaves no proof of delivery, counts as
// delivered once it is in the timeline and not in the queue.
func (d *Dispatcher) State(ctx context.Context, id, mid string) (State, error) {
	h, err := d.handles.get(id)
	if err != nil {
		return State{}, err
	}
	defer d.handles.put(h)
	return d.state(ctx, h, mid)
}

// state is [Dispatcher.states] of one message.
func (d *Dispatcher) state(ctx context.Context, h *handle, mid string) (State, error) {
	found, err := d.states(ctx, h, mid)
	if err != nil {
		return State{}, err
	}
	s, ok := found[mid]
	if !ok {
		return State{}, fmt.Errorf("session %s: message %s: %w", h.ID(), mid, ErrNoMessage)
	}
	return s, nil
}

func (s *State) queued(e Debt) {
	s.AcceptedAt = e.EnqueuedAt
	s.Attempts, s.LastAttempt, s.LastError = e.Attempts, e.LastAttempt, e.LastError
	s.Condition, s.Handing = e.Condition(), e.Handing
}

// ended applies what the timeline's private lines prove.
func (s *State) ended(f timeline.Fate, queued bool) {
	s.Handing = s.Handing && !f.Settled && !f.Revoked
	switch {
	case f.Settled:
		s.Condition, s.EndedAt = Delivered, f.SettledAt
	case f.Revoked:
		s.Condition, s.EndedAt, s.Reason = Revoked, f.RevokedAt, f.RevokedReason
	case !queued && !f.Ours:
		s.Condition = Delivered
	}
}

// Pending returns what the session is owed, in order. A change that a dead process
// left half done is completed first, where the store can be written. [Dispatcher.Debts]
// does the same in bounded memory.
func (d *Dispatcher) Pending(ctx context.Context, id string) ([]Debt, error) {
	h, err := d.handles.get(id)
	if err != nil {
		return nil, err
	}
	defer d.handles.put(h)
	return settled(ctx, d, h, func() (debts []Debt, err error) {
		for e, err := range h.debts() {
			if err != nil {
				return debts, err
			}
			debts = append(debts, e)
		}
		return debts, nil
	})
}

// Debts yields what [Dispatcher.Pending] returns, one message at a time: memory grows with
// the longest text, not with the queue. Each was owed at a moment since the iteration
// began. An error ends it; of a queue that is [queue.ErrCorrupt], what can be read is
// yielded before.
func (d *Dispatcher) Debts(ctx context.Context, id string) iter.Seq2[Debt, error] {
	return func(yield func(Debt, error) bool) {
		h, err := d.handles.get(id)
		if err != nil {
			yield(Debt{}, err)
			return
		}
		defer d.handles.put(h)
		if h.Locks().Interrupted() {
			// Where it cannot be completed, what the file says is all there is to say.
			if held, err := d.lockRecord(ctx, h); err == nil {
				held.Release()
			}
		}
		for e, err := range h.debts() {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(Debt{}, err)
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Owed counts what the session is owed, as [Dispatcher.Pending] returns it, but in
// memory that does not grow with it. A long queue that is damaged in its middle is
// counted as it stands.
func (d *Dispatcher) Owed(ctx context.Context, id string) (int, error) {
	h, err := d.handles.get(id)
	if err != nil {
		return 0, err
	}
	defer d.handles.put(h)
	return settled(ctx, d, h, h.queue.Len)
}

// settled asks the queue, once more where what a dead process left half done had to be
// completed first and could be.
func settled[T any](ctx context.Context, d *Dispatcher, h *handle, ask func() (T, error)) (T, error) {
	answer, err := ask()
	if err == nil && !h.Locks().Interrupted() {
		return answer, nil
	}
	held, lockErr := d.lockRecord(ctx, h)
	if lockErr != nil {
		return answer, err
	}
	defer held.Release()
	return ask()
}
