package surface

import (
	"context"
	"errors"
	"iter"

	"github.com/docket-go/docket/compose"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/queue"
	"github.com/docket-go/docket/timeline/httpread"
)

// Options returns the options of a handler that shows the store of d, and sends
// through d. The caller sets what else it wants, such as [httpread.Options.Token], and
// takes Send out for a surface that only reads.
//
// After each message that was accepted, deliver is called with its session. It must
// not wait, and may be called from any number of goroutines:
// [dispatch.Sweeper.Nudge] of a sweeper that runs in this process is made for that. Nil
// leaves the delivery to whoever makes the next pass, such as a sweeper elsewhere.
func Options(d *dispatch.Dispatcher, deliver func(session string)) httpread.Options {
	s := source{d, deliver}
	return httpread.Options{Store: d.Store(), Send: s.send, Debts: s.debts, Count: s.count, Unconfirmed: s.unconfirmed, States: s.states}
}

// A source answers what httpread asks.
type source struct {
	d       *dispatch.Dispatcher
	deliver func(session string)
}

func (s source) send(ctx context.Context, m httpread.Message) (httpread.Accepted, error) {
	a, err := s.d.SendText(ctx, m.Session, dispatch.Message{
		Text: m.Text, ReplyVia: compose.Channel(m.ReplyVia), Operation: m.Operation, Key: m.Key, NoDrain: true,
	})
	if errors.Is(err, dispatch.ErrInDoubt) {
		return httpread.Accepted{}, inDoubt(a.MID, m.Key != "", err)
	}
	if err != nil {
		return httpread.Accepted{}, refused(err)
	}
	if s.deliver != nil {
		s.deliver(m.Session)
	}
	return httpread.Accepted{MID: a.MID, Replayed: a.Replayed, Delivered: a.Delivered, Cursor: a.Cursor}, nil
}

func (s source) debts(ctx context.Context, id string) iter.Seq2[httpread.Owed, error] {
	return func(yield func(httpread.Owed, error) bool) {
		for e, err := range s.d.Debts(ctx, id) {
			owed := httpread.Owed{
				MID: e.MID, From: e.From, Text: e.Text, State: string(e.Condition()), EnqueuedAt: e.EnqueuedAt,
				Attempts: e.Attempts, LastAttempt: e.LastAttempt, LastError: e.LastError, Handing: e.Handing,
			}
			if !yield(owed, refused(err)) {
				return
			}
		}
	}
}

// count opens the queue by itself: a list of many sessions must not push those that
// the dispatcher works with out of what it keeps open.
func (s source) count(_ context.Context, id string) (n int, err error) {
	opened, err := s.d.Store().Open(id)
	if err != nil {
		return 0, err
	}
	defer opened.Release()
	q, err := queue.Open(opened.Dir(), queue.Options{Locks: opened.Locks()})
	if err != nil {
		return 0, err
	}
	defer q.Close()
	n, err = q.Len()
	return n, refused(err)
}

func (s source) states(ctx context.Context, id string, mids []string) (map[string]httpread.State, error) {
	states, err := s.d.States(ctx, id, mids)
	if err != nil {
		return nil, refused(err)
	}
	found := make(map[string]httpread.State, len(states))
	for mid, st := range states {
		found[mid] = httpread.State{
			State: string(st.Condition), EndedAt: st.EndedAt, Reason: st.Reason, Attempts: st.Attempts, LastError: st.LastError,
			Handing: st.Handing,
		}
	}
	return found, nil
}
