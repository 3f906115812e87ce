package dispatch

import (
	"context"
	"errors"
	"fmt"

	"github.com/docket-go/docket/compose"
	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/lock/step"
	"github.com/docket-go/docket/queue"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

// Accepted is what became of a message that was accepted.
type Accepted struct {
	Session string
	MID     string
	// Replayed: the key came before with this content, MID is the first one's, and
	// nothing was written.
	Replayed bool
	// Delivered: the adapter has it, as far as is known when SendText returns.
	Delivered bool
	// Cursor names the next public event after the message's own.
	Cursor timeline.Cursor
	// Pass is why something may still be owed; it takes nothing back, the message
	// is accepted. A [*PassError] says at which message the pass ended and whether
	// that is refused or unconfirmed; it may be another message than this one.
	// [lock.ErrBusy] means that another pass is at work, which takes this message
	// too or leaves it to the next. Nil means that nothing was owed any more, or
	// that no pass was asked for.
	Pass error
}

// SendText accepts one message for the session to, and then makes one delivery
// pass within the Dispatcher's budget, unless another pass is at work or
// m.NoDrain asks for none.
//
// A nil error promises that the message's line is in the timeline on stable
// storage (unless the store is buffered) and that the message is owed or
// delivered. It does not promise delivery: see [Accepted.Pass].
//
// Refusals write nothing: [session.ErrNotFound], [session.ErrBadID],
// [session.ErrUnreadable], [ErrSenderClosed], [ErrEmptyText], [ErrKey],
// [ErrKeyReused], [ErrAttributes], [compose.ErrChannel], [timeline.ErrText],
// [timeline.ErrTooLarge], [queue.ErrCorrupt], [queue.ErrFull] and those of
// package lock. [ErrInDoubt] comes with an Accepted that has the MID, and so does the
// error about a message that could not be queued and was revoked in the same hold.
//
// It may be called at the same time from any number of goroutines and processes.
// If the process dies inside, the message is accepted wholly or not at all, and a
// repeated send with the same key finds out.
func (d *Dispatcher) SendText(ctx context.Context, to string, m Message) (Accepted, error) {
	if err := m.check(); err != nil {
		return Accepted{}, fmt.Errorf("send to session %s: %w", to, err)
	}
	h, err := d.handles.get(to)
	if err != nil {
		return Accepted{}, err
	}
	defer d.handles.put(h)
	a, known, err := d.accept(ctx, h, m)
	if err != nil {
		return a, fmt.Errorf("send to session %s: %w", to, err)
	}
	done := Pass{Session: to}
	if !m.NoDrain {
		done = d.passAfter(ctx, h, known, &a)
	}
	d.tellSent(ctx, a, done)
	return a, nil
}

// knowledge is what a send leaves to the pass behind it, which need not look for it
// again. The zero value is none.
type knowledge struct {
	kept   *lock.Record   // the hold in which the message was accepted; nil if it was freed
	owing  bool           // the message was owed at the end of that hold, just now
	record session.Record // as it was then
	synced uint64         // the public sequence up to which the log is on stable storage
	pass   *lock.Delivery // taken before the sync; nil if it was not
}

// accept takes the record lock for a message. Where nothing has to be synced before
// the pass behind it, the pass is to go on in the same hold.
func (d *Dispatcher) accept(ctx context.Context, h *handle, m Message) (a Accepted, known knowledge, err error) {
	hold, err := d.lockForSend(ctx, h, m.From)
	if err != nil {
		return Accepted{}, knowledge{}, err
	}
	defer func() {
		if known.kept == nil {
			hold.release()
		}
	}()
	rec, err := h.Healed(ctx, hold.record)
	if err := h.synced(err); err != nil {
		return Accepted{}, knowledge{}, err
	}
	keep := hold.alone && h.Buffered() && !m.NoDrain
	a, pass, err := d.acceptIn(ctx, h, hold, keep, rec, m)
	switch {
	case err != nil || a.Replayed:
		return a, knowledge{}, err
	case keep:
		return a, knowledge{kept: hold.record, owing: true, record: rec}, nil
	}
	return a, knowledge{owing: true, record: rec, synced: a.Cursor.Seq(), pass: pass}, nil
}

// acceptIn writes line and debt. Unless it is to keep the lock, it makes the line
// durable after the unlock. Where nothing else is owed, the disk begins with that before
// the debt is written, and the delivery lock is taken for the pass behind it: the disk
// takes longer than both. Nobody waits for either of them, and there is no other message
// that somebody could want to decide about meanwhile.
func (d *Dispatcher) acceptIn(ctx context.Context, h *handle, hold sendHold, keep bool, rec session.Record, m Message) (a Accepted, pass *lock.Delivery, err error) {
	held := hold.record
	if m.ToLife != nil && rec.Life != *m.ToLife {
		return a, nil, fmt.Errorf("%w: another session bears the id now", session.ErrNotFound)
	}
	if m.Key != "" {
		a, found, err := d.replay(ctx, h, held, m)
		if found || err != nil {
			hold.release()
			a, err = d.promiseReplay(ctx, h, a, err)
			return a, nil, err
		}
	}
	sent, err := d.compose(ctx, h, held, rec, m)
	if err != nil {
		return a, nil, err
	}
	sent.FromLife = m.life(hold)
	alone := !keep && h.queue.Empty(held)
	w, err := d.write(h, held, sent, alone)
	if err != nil && w.NextSeq == w.FirstSeq { // nothing was recorded
		return a, nil, err
	}
	a = Accepted{Session: h.ID(), MID: sent.MID, Cursor: w.Next}
	if err != nil || keep {
		return a, nil, err
	}
	if err := hold.release(); err != nil {
		return a, nil, inDoubt(sent.MID, err)
	}
	if alone && !m.NoDrain {
		pass, _ = h.Locks().TryDelivery() // else the pass tries again
		step.At("dispatch: accepted, not synced")
	}
	if err := h.commit(w); err != nil {
		return a, nil, errors.Join(inDoubt(sent.MID, err), pass.Release())
	}
	return a, pass, nil
}

// compose turns the message into the line that is to be written. The delivered
// text is frozen here.
func (d *Dispatcher) compose(ctx context.Context, h *handle, held *lock.Record, rec session.Record, m Message) (timeline.Sent, error) {
	// An adapter that cannot be opened refuses at the pass; a message is accepted
	// whatever the transport says.
	used := d.useAdapter(h, rec)
	r := compose.Request{Text: m.Text, From: m.From, Explicit: m.ReplyVia, Headless: used.headless()}
	if err := h.leaveAdapter(used); err != nil {
		return timeline.Sent{}, err
	}
	if m.From == "" {
		var err error
		if r.LastHuman, err = h.lastHuman(ctx, held); err != nil {
			return timeline.Sent{}, err
		}
	}
	composed, err := d.options.Texts.Compose(r)
	if err != nil {
		return timeline.Sent{}, err
	}
	mid, err := d.options.NewMID()
	if err != nil {
		return timeline.Sent{}, err
	}
	sent := timeline.Sent{
		Time: d.options.Now(), MID: mid, Text: m.Text, From: m.From, Attributes: m.Attributes,
	}
	if composed.Via == compose.Note {
		sent.ReplyVia = timeline.Note
	}
	if m.Key != "" {
		sent.Receipt = &timeline.Receipt{
			Operation: m.Operation, RequestDigest: m.requestDigest(), PayloadHash: m.payloadHash(),
			Delivery: timeline.Delivery{Text: composed.Text, From: m.From},
		}
	} else if composed.Text != m.Text {
		sent.Delivered = composed.Text
	}
	return sent, nil
}

// write appends the line and then the debt. Where the debt cannot be written, a
// keyed message is left to the next holder, who owes it, so that a retry finds it;
// an unkeyed one is revoked in the same hold, so that a retry does not double it.
func (d *Dispatcher) write(h *handle, held *lock.Record, sent timeline.Sent, hasten bool) (timeline.Written, error) {
	e := debt(sent)
	if err := h.queue.Reserve(held, e); err != nil {
		return timeline.Written{}, err
	}
	if err := held.Begin(); err != nil {
		return timeline.Written{}, err
	}
	w, err := h.write(held, sent)
	if err != nil {
		return timeline.Written{}, errors.Join(err, held.Done())
	}
	step.At("dispatch: recorded")
	if hasten {
		h.Timeline().Hasten(w)
	}
	h.human.sent(sent, w)
	e.Seq, e.HasSeq = w.FirstSeq, true
	if err := h.queue.Enqueue(held, e); err != nil {
		return w, d.unqueued(h, held, e, err)
	}
	step.At("dispatch: owed")
	if err := held.Done(); err != nil {
		return w, inDoubt(sent.MID, err)
	}
	return w, nil
}

// unqueued ends a send whose debt could not be written.
func (d *Dispatcher) unqueued(h *handle, held *lock.Record, e queue.Entry, cause error) error {
	if e.Dispatch != nil {
		return inDoubt(e.MID, cause)
	}
	_, err := h.write(held, revocation(e, d.options.Now(), "it could not be queued: "+cause.Error()))
	if err != nil {
		return inDoubt(e.MID, errors.Join(cause, err))
	}
	return errors.Join(fmt.Errorf("message %s was recorded and revoked, as it could not be queued: %w", e.MID, cause), held.Done())
}

// inDoubt says of a message that it is written, and why it is not promised.
func inDoubt(mid string, err error) error {
	return fmt.Errorf("%w: message %s: %w", ErrInDoubt, mid, err)
}

// debt is the queue's entry for a line of the timeline.
func debt(s timeline.Sent) queue.Entry {
	e := queue.Entry{MID: s.MID, From: s.From, FromLife: s.FromLife, Text: s.Text, Attributes: s.Attributes, EnqueuedAt: s.Time}
	if s.Delivered != "" {
		e.Text = s.Delivered
	}
	if r := s.Receipt; r != nil {
		e.Text, e.From = r.Delivery.Text, r.Delivery.From
		e.Dispatch = &queue.Dispatch{Operation: r.Operation, RequestDigest: r.RequestDigest}
	}
	return e
}
