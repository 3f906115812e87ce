package dispatch

import (
	"context"

	"github.com/docket-go/docket/queue"
	"github.com/docket-go/docket/timeline"
)

// States is [Dispatcher.State] for many messages, by mid, with one look at the queue and
// one reading of the timeline, newest lines first, which ends as soon as every message
// was found. A mid that neither of them holds is not in the result, and makes it read the
// whole of both. Memory grows with the texts of the messages asked for, not with the
// queue or the timeline.
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
	queued, err := h.find(mids...)
	if err != nil {
		return nil, err
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

// find looks for messages in the queue, as [queue.Queue.Find] does, and whether the
// oldest is being handed over now.
func (h *handle) find(mids ...string) (map[string]Debt, error) {
	entries, err := h.queue.Find(mids...)
	if err != nil {
		return nil, err
	}
	found := make(map[string]Debt, len(entries))
	for mid, e := range entries {
		debt, owed := Debt{Entry: e}, true
		if e.Unconfirmed() {
			debt, owed, err = Oldest(h.Locks(), func() (queue.Entry, bool, error) {
				now, err := h.queue.Find(mid)
				e, owed := now[mid]
				return e, owed, err
			})
		}
		if err != nil {
			return nil, err
		}
		if owed {
			found[mid] = debt
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
