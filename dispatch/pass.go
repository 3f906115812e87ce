package dispatch

import (
	"context"
	"errors"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
	"github.com/docket-go/docket/timeline"
)

// errBudget ends the pass of a send that has used up its time.
var errBudget = errors.New("the time for delivering at once is used up: the rest is left to the next pass")

// DrainOptions configures [Dispatcher.Drain]. The zero value uses the session's
// own adapter.
type DrainOptions struct {
	// Adapter replaces the session's adapter for this pass; its zero value does
	// not.
	Adapter adapter.Opened

	// Redeliver names an unconfirmed message that is to be handed over again.
	Redeliver string
}

// A Pass is what one delivery pass did.
type Pass struct {
	Session   string
	Delivered []string // mids, in order
	Voided    []string // mids that were revoked, as their sender is closed
	Owed      int      // what is still owed when it ended
}

// Drain makes one delivery pass: it hands the owed messages to the adapter, oldest
// first, until none is owed or one is not taken.
//
// Nil means that nothing is owed any more. A [*PassError] says at which message
// the pass ended and why; that message and all behind it are still owed. Other
// errors are those of the locks and files; [lock.ErrTimeout] means that another
// pass was at work for the whole wait.
//
// Passes of one session exclude each other in all processes. If the process dies
// inside, at most one message is left unconfirmed.
func (d *Dispatcher) Drain(ctx context.Context, id string, o DrainOptions) (done Pass, err error) {
	defer func() { d.tellPass(ctx, done, err) }()
	h, err := d.handles.get(id)
	if err != nil {
		return Pass{Session: id}, err
	}
	defer d.handles.put(h)
	p := pass{d: d, h: h, options: o, done: Pass{Session: id}}
	for {
		held, err := h.Locks().Delivery(ctx)
		if err != nil {
			return p.done, d.options.Counters.waited(err)
		}
		err = p.run(ctx, held)
		if again, err := p.after(err); !again {
			return p.done, err
		}
	}
}

// passAfter makes the pass that follows a send. It waits for nobody: a pass that
// is at work finds the new entry itself, unless its own time is up. The pass begins in
// the hold that the send kept, if it kept one, and frees it with its first entry.
func (d *Dispatcher) passAfter(ctx context.Context, h *handle, known knowledge, a *Accepted) Pass {
	defer known.kept.Release()
	p := pass{d: d, h: h, knowledge: known, uncounted: true, logged: a.Cursor.Seq(), done: Pass{Session: h.ID()}}
	if d.options.Budget > 0 {
		p.until = d.options.Now().Add(d.options.Budget)
	}
	for held := known.pass; ; held = nil {
		if held == nil {
			var err error
			if held, err = h.Locks().TryDelivery(); err != nil {
				a.Pass = err
				return p.done
			}
		}
		err := p.run(ctx, held)
		for _, mid := range p.done.Delivered {
			a.Delivered = a.Delivered || mid == a.MID
		}
		again, err := p.after(err)
		if !again {
			a.Pass = err
			return p.done
		}
	}
}

// A pass hands over what one session is owed.
type pass struct {
	d       *Dispatcher
	h       *handle
	options DrainOptions
	until   time.Time // zero means no budget
	done    Pass

	knowledge      // kept is what the first lock answers
	uncounted bool // nobody asks for done.Owed
	adapter   adapter.Opened
	void      string // the mid that check found void
	logged    uint64 // a public sequence that the log has reached
	over      bool   // nothing was owed when the delivery lock was given back
}

// run drains the queue once and gives the delivery lock back.
func (p *pass) run(ctx context.Context, held *lock.Delivery) (err error) {
	defer func() { err = errors.Join(err, held.Release()) }()
	p.over = false
	if owed, err := p.owes(ctx); err != nil || !owed {
		p.done.Owed = 0
		return err
	}
	leave, err := p.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, leave()) }()
	if err := p.checkRedeliver(); err != nil {
		return err
	}
	drained, err := p.h.queue.Drain(ctx, held, queue.Handover{
		Before: p.before,
		Lock:   p.lock,
		Check:  p.check,
		Ready:  p.ready,
		Insert: p.insert,
		Settle: p.settle,
		Late:   p.recordLate,
		Drop:   p.recordVoid,
		Over:   func() error { p.over = true; return held.Release() },

		Owing:     true,
		Unasked:   p.unasked,
		Uncounted: p.uncounted,
	})
	p.done.Delivered = append(p.done.Delivered, drained.MIDs...)
	p.done.Owed = drained.Owed
	p.d.options.Counters.passed(len(drained.MIDs), err)
	return p.explain(err)
}

// owes reports whether there is anything to do. Where the queue says so, its first hold
// of the record lock completes what is interrupted; otherwise what is to be completed
// may be the first debt.
func (p *pass) owes(ctx context.Context) (bool, error) {
	if p.owing {
		return true, nil // the message of the send, unless another pass was faster
	}
	owed, err := p.h.queue.Owed()
	if err != nil || owed && p.options.Redeliver == "" || !p.h.Locks().Interrupted() {
		return owed, err
	}
	if err := p.complete(ctx); err != nil {
		return false, err
	}
	return p.h.queue.Owed()
}

// lock takes the record lock.
func (p *pass) lock(ctx context.Context) (*lock.Record, error) {
	if held := p.kept; held != nil {
		p.kept = nil
		return held, nil
	}
	return p.d.lockRecord(ctx, p.h)
}

// complete finishes what a dead process began, which may be the first debt.
func (p *pass) complete(ctx context.Context) error {
	held, err := p.lock(ctx)
	if err != nil {
		return err
	}
	return held.Release()
}

// after says whether the pass has to go on: a message that was accepted while the
// lock was being given back would otherwise be nobody's. Where the lock was given back
// before anybody could accept one, there is none.
func (p *pass) after(err error) (again bool, _ error) {
	if err != nil || p.over {
		return false, err
	}
	owed, err := p.h.queue.Owed()
	if errors.Is(err, queue.ErrCorrupt) {
		return false, err
	}
	return owed && err == nil, err
}

// open finds the adapter of this pass.
func (p *pass) open() (leave func() error, err error) {
	if p.options.Adapter.Adapter != nil {
		p.adapter = p.options.Adapter
		return func() error { return nil }, nil
	}
	rec := p.record
	if !p.owing {
		var err error
		if rec, err = p.h.Record(); err != nil {
			return nil, err
		}
	}
	p.owing = false
	used := p.d.useAdapter(p.h, rec)
	p.adapter = used.inUse()
	return func() error { return p.h.leaveAdapter(used) }, nil
}

func (p *pass) before(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !p.until.IsZero() && !p.d.options.Now().Before(p.until) {
		return errBudget
	}
	return nil
}

// ready runs without the record lock, before the claim: it looks up a message
// that was claimed before, sees whether the harness can be reached, and syncs the
// record of what is about to be handed over.
func (p *pass) ready(ctx context.Context, e queue.Entry) (queue.Verdict, error) {
	if e.Unconfirmed() {
		verdict, err := p.lookup(ctx, e)
		if err != nil || verdict != queue.Hand {
			return verdict, err
		}
	}
	if err := p.adapter.Ready(ctx); err != nil {
		return queue.Hand, err
	}
	return queue.Hand, p.h.syncAll(ctx)
}

// unasked reports that ready would do nothing: there is no sync to be made, for the
// message's line is on stable storage or nothing is, and the adapter cannot see its
// harness.
func (p *pass) unasked(e queue.Entry) bool {
	_, sees := p.adapter.Adapter.(adapter.Prober)
	return !sees && (p.h.Buffered() || e.HasSeq && e.Seq < p.synced)
}

func (p *pass) insert(ctx context.Context, e queue.Entry) (queue.Answer, error) {
	err := p.adapter.Adapter.Insert(ctx, adapter.Prompt{
		MID: e.MID, Session: p.h.ID(), From: e.From, Text: e.Text, Attributes: e.Attributes,
	})
	switch adapter.AnswerOf(err) {
	case adapter.Taken:
		return queue.Taken, nil
	case adapter.Refused:
		return queue.Refused, err
	}
	return queue.Unconfirmed, err
}

// settle writes the proof of delivery, under the record lock, before the entry
// goes. That of a keyed message is on stable storage first.
func (p *pass) settle(_ context.Context, held *lock.Record, e queue.Entry) error {
	return p.d.settle(p.h, held, e)
}

func (d *Dispatcher) settle(h *handle, held *lock.Record, e queue.Entry) error {
	s := timeline.Settled{Time: d.options.Now(), MID: e.MID}
	if e.Dispatch != nil {
		s.Operation, s.RequestDigest = e.Dispatch.Operation, e.Dispatch.RequestDigest
	}
	w, err := h.write(held, s)
	if err != nil || e.Dispatch == nil {
		return err
	}
	return h.commit(w)
}

// answers are the queue's in the words of package adapter.
var answers = map[queue.Answer]adapter.Answer{
	queue.Unconfirmed: adapter.Unconfirmed, queue.Taken: adapter.Taken, queue.Refused: adapter.Refused,
}

// explain turns the queue's error into the caller's.
func (p *pass) explain(err error) error {
	var stopped *queue.StoppedError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &stopped):
		return &PassError{Session: p.h.ID(), MID: stopped.MID, Answer: answers[stopped.Answer], Err: stopped.Err}
	case errors.Is(err, errBudget):
		return &PassError{Session: p.h.ID(), Answer: adapter.Refused, Err: err}
	}
	return err
}

// unusable stands for an adapter that could not be opened.
type unusable struct{ err error }

func (unusable) Headless() bool { return false }

func (u unusable) Insert(context.Context, adapter.Prompt) error { return u.err }
