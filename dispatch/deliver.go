package dispatch

import "context"

// Deliver makes the pass that follows a send, for who accepted messages with
// [Message.NoDrain] first: within the Dispatcher's budget, and without waiting for a
// pass that is at work, which is [lock.ErrBusy]. Errors are otherwise as for
// [Dispatcher.Drain], and so are crashes.
func (d *Dispatcher) Deliver(ctx context.Context, id string) error {
	h, err := d.handles.get(id)
	if err != nil {
		return err
	}
	defer d.handles.put(h)
	a := Accepted{Session: id}
	d.tellPass(ctx, d.passAfter(ctx, h, knowledge{}, &a), a.Pass)
	return a.Pass
}
