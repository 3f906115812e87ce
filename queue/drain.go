package queue

import (
	"context"
	"errors"
	"fmt"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/lock/step"
)

// Drain makes one delivery pass: it hands the owed entries over, oldest first, and
// removes each one that is taken. The caller holds the delivery lock for the whole
// pass, so that no other process can hand over the same entry meanwhile; the record
// lock is held only around the books, never across Ready and Insert.
//
// Nil means that nothing was owed when the pass looked last. A [*StoppedError] ends
// the pass: its entry and all behind it stay, in order. Other errors are those of
// Before, of the locks and of the file; nothing is in flight then. Drained is filled
// beside an error too; its count is of what can be read.
//
// Once Insert was called, its answer is entered even if ctx ends. If the process
// dies after the claim and before the removal, that one entry is unconfirmed.
// Entries that are enqueued meanwhile are part of the pass; who gives the delivery lock
// back after it, rather than in Over, has to look again then.
func (q *Queue) Drain(ctx context.Context, held *lock.Delivery, h Handover) (Drained, error) {
	if err := held.Covers(q.dir); err != nil {
		return Drained{}, err
	}
	if h.Insert == nil { // a claim that nothing follows would leave the entry unconfirmed
		return Drained{}, fmt.Errorf("queue: %s: a pass needs Handover.Insert", q.path)
	}
	if h.Lock == nil {
		h.Lock = q.locks.Record
	}
	p := pass{q: q, Handover: h, owed: -1}
	err := p.run(ctx)
	if err != nil && p.owed < 0 && !h.Uncounted {
		p.owed = p.left(ctx)
	}
	return Drained{MIDs: p.mids, Owed: max(p.owed, 0)}, err
}

// A pass is the work of one Drain.
type pass struct {
	Handover
	q    *Queue
	mids []string
	owed int // -1 until it was counted
}

// run hands over one entry after the other. The books of one are closed in the hold of
// the record lock in which the next one is looked at.
func (p *pass) run(ctx context.Context) error {
	if !p.Owing {
		if owed, err := p.q.Owed(); err != nil || !owed {
			return err
		}
	}
	t, err := p.next(ctx, nil)
	for err == nil && !t.over {
		t, err = p.advance(ctx, t)
	}
	return err
}

// advance takes an entry one step further, or goes on to the one behind it.
func (p *pass) advance(ctx context.Context, t turn) (turn, error) {
	switch {
	case t.claimed:
		step.At("queue: claimed")
		answer, reason := p.insert(ctx, t.entry)
		step.At("queue: inserted")
		return p.next(ctx, func(held *lock.Record) error { return p.enter(ctx, held, t.entry, answer, reason) })
	case t.ask:
		verdict, readyErr := p.ready(ctx, t.entry)
		t.ask = false
		err := p.hold(context.WithoutCancel(ctx), func(held *lock.Record) error {
			return t.decide(ctx, held, verdict, readyErr)
		})
		return t, err
	}
	return p.next(ctx, nil)
}

// next looks at the oldest entry, after close, unless that is nil, has closed the books
// of the one before.
func (p *pass) next(ctx context.Context, close func(held *lock.Record) error) (turn, error) {
	t, wait := turn{pass: p}, ctx
	if close != nil {
		wait = context.WithoutCancel(ctx)
	}
	err := p.hold(wait, func(held *lock.Record) error {
		if close != nil {
			if err := close(held); err != nil {
				return err
			}
		}
		return t.look(ctx, held)
	})
	return t, err
}

// enter closes the books of an entry that was handed over.
func (p *pass) enter(ctx context.Context, held *lock.Record, e Entry, a Answer, reason error) error {
	switch a {
	case Taken:
		return p.taken(ctx, held, e)
	case Refused:
		return p.stop(held, e, Refused, reason, p.q.Refused)
	}
	return p.stop(held, e, Unconfirmed, reason, p.q.Unconfirmed)
}

// count counts what is owed, under the record lock.
func (p *pass) count() {
	p.q.mu.Lock()
	defer p.q.mu.Unlock()
	if n, err := p.q.counted(); err == nil {
		p.owed = n
	}
}

// left counts what is owed after an error, as well as can be.
func (p *pass) left(ctx context.Context) (n int) {
	err := p.hold(context.WithoutCancel(ctx), func(held *lock.Record) (err error) {
		p.q.mu.Lock()
		defer p.q.mu.Unlock()
		if err = p.q.load(held); err == nil {
			n, err = p.q.counted()
		}
		return err
	})
	if err != nil {
		in, _ := p.q.Scan(nil)
		n = in.Count
	}
	return n
}

// state is the answer that the last hand-over of an owed entry stands for.
func (e Entry) state() Answer {
	if e.Unconfirmed() {
		return Unconfirmed
	}
	return Refused
}

// hold runs do under the record lock, and frees it also when a callback panics.
func (p *pass) hold(ctx context.Context, do func(held *lock.Record) error) (err error) {
	held, err := p.Lock(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if freeErr := held.Release(); freeErr != nil {
			err = errors.Join(err, freeErr)
		}
	}()
	err = do(held)
	p.q.settleNote(held)
	return err
}

func (p *pass) check(ctx context.Context, held *lock.Record, e Entry) (Verdict, error) {
	if p.Check == nil {
		return Hand, nil
	}
	return p.Check(ctx, held, e)
}

// ready asks Ready, which calls the harness and may panic there.
func (p *pass) ready(ctx context.Context, e Entry) (v Verdict, err error) {
	defer func() {
		if r := recover(); r != nil {
			v, err = Hand, fmt.Errorf("panic: %v", r)
		}
	}()
	return p.Ready(ctx, e)
}

// insert asks Insert. What it answers is believed only as far as it is safe.
func (p *pass) insert(ctx context.Context, e Entry) (a Answer, err error) {
	defer func() {
		if r := recover(); r != nil {
			a, err = Unconfirmed, fmt.Errorf("panic: %v", r)
		}
	}()
	a, err = p.Insert(ctx, e)
	switch {
	case a == Taken && err == nil:
		return a, nil
	case a == Refused && err == nil:
		return a, errors.New("no reason was given")
	case a == Refused:
		return a, err
	case err == nil:
		err = errors.New("no reason was given")
	}
	return Unconfirmed, err
}

// conclude does what a verdict other than Hand says, or enters why there is none.
func (p *pass) conclude(ctx context.Context, held *lock.Record, e Entry, v Verdict, err error) error {
	switch {
	case err != nil:
		return p.notReady(held, e, err)
	case v == Settle:
		return p.taken(ctx, held, e)
	}
	if err := p.finish(ctx, held, e, p.Drop); err != nil {
		return p.notReady(held, e, err)
	}
	return nil
}

// notReady ends the pass before the entry was claimed in it. Why an entry became
// unconfirmed is what a person needs to decide about it, so that note stays.
func (p *pass) notReady(held *lock.Record, e Entry, err error) error {
	switch {
	case e.Unconfirmed() && e.LastError != "":
		return p.stop(held, e, Unconfirmed, err, nil)
	case e.Unconfirmed():
		return p.stop(held, e, Unconfirmed, err, p.q.Unconfirmed)
	}
	return p.stop(held, e, Refused, err, p.q.Refused)
}

// stop notes why the pass ends at the entry, unless note is nil. One that somebody
// removed meanwhile needs no note.
func (p *pass) stop(held *lock.Record, e Entry, a Answer, err error, note func(*lock.Record, string, string) error) error {
	var noteErr error
	if note != nil {
		noteErr = note(held, e.MID, err.Error())
	}
	if errors.Is(noteErr, ErrNotPending) {
		noteErr = nil
	}
	if !p.Uncounted {
		p.count()
	}
	return &StoppedError{MID: e.MID, Answer: a, Err: errors.Join(err, noteErr)}
}

// taken settles an entry that is delivered and removes it. One that somebody removed
// while it was handed over is late.
func (p *pass) taken(ctx context.Context, held *lock.Record, e Entry) error {
	ctx = context.WithoutCancel(ctx)
	queued, err := p.q.holds(held, e.MID)
	switch {
	case err != nil:
		return &StoppedError{MID: e.MID, Answer: Taken, Err: err}
	case queued:
		err = p.finish(ctx, held, e, p.Settle)
	case p.Late != nil:
		err = p.Late(ctx, held, e)
	}
	if err != nil {
		reason := fmt.Errorf("handed over, but that could not be recorded: %w", err)
		return p.stop(held, e, Taken, reason, p.q.Unconfirmed)
	}
	p.mids = append(p.mids, e.MID)
	return nil
}

// finish records the end of an entry and removes it, as one announced change.
func (p *pass) finish(ctx context.Context, held *lock.Record, e Entry, record func(context.Context, *lock.Record, Entry) error) error {
	if err := held.Begin(); err != nil {
		return err
	}
	if record != nil {
		if err := record(ctx, held, e); err != nil {
			return err
		}
		step.At("queue: end recorded")
	}
	if err := p.q.remove(held, []string{e.MID}, p.q.spendNote); err != nil {
		return err
	}
	return held.Done()
}

// holds reports whether the queue holds a message, at the head or elsewhere.
func (q *Queue) holds(held *lock.Record, mid string) (bool, error) {
	q.mu.Lock()
	l, err := q.first(held)
	q.mu.Unlock()
	if err != nil || l == nil || l.entry.MID == mid {
		return l != nil, err
	}
	found, err := q.Find(mid)
	return len(found) > 0, err
}
