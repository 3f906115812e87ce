package dispatch

import (
	"context"

	"github.com/docket-go/docket/timeline"
)

// States is [Dispatcher.State] for many messages, by mid, with one reading of the
// queue and one of the timeline, newest lines first, which ends as soon as every
// message was found. A mid that neither of them holds is not in the result, and makes
// it read the whole timeline. Memory grows with the texts of the messages asked for,
// not with the queue or the timeline.
//
// It takes no lock, so each state is true of a moment during the call, not all of
// them of the same moment. The error is [session.ErrNotFound], [queue.ErrCorrupt],
// ctx's, or of the disk; the result is nil then. It may be called at the same time as
// everything else but Close, and changes nothing.
func (d *Dispatcher) States(ctx context.Context, id string, mids []string) (map[string]State, error) {
	h, err := d.handles.get(id)
	if err != nil {
		return nil, err
	}
	defer d.handles.put(h)
	return d.states(ctx, h, mids...)
}

// states looks at the queue first: a message leaves it only after its end is in
// the timeline.
func (d *Dispatcher) states(ctx context.Context, h *handle, mids ...string) (map[string]State, error) {
	if len(mids) == 0 {
		return map[string]State{}, nil
	}
	queued := make(map[string]Debt, len(mids))
	asked := make(map[string]bool, len(mids))
	for _, mid := range mids {
		asked[mid] = true
	}
	for e, err := range h.debts() {
		if err != nil {
			return nil, err
		}
		if asked[e.MID] {
			e.Text = "" // it says nothing of the state
			queued[e.MID] = e
		}
	}
	fates, err := h.Timeline().Fates(ctx, mids...)
	if err != nil {
		return nil, err
	}
	found := make(map[string]State, len(mids))
	for _, mid := range mids {
		e, owed := queued[mid]
		fate, known := fates[mid]
		if owed || known {
			found[mid] = stateOf(h.ID(), mid, e, owed, fate, known)
		}
	}
	return found, nil
}

// stateOf is what an entry of the queue and the timeline say of a message, of which at
// least one holds it.
func stateOf(id, mid string, e Debt, owed bool, fate timeline.Fate, known bool) State {
	s := State{Session: id, MID: mid, Condition: Owed}
	if owed {
		s.queued(e)
	}
	if known {
		s.AcceptedAt = fate.Sent.Time
		s.ended(fate, owed)
	}
	return s
}
