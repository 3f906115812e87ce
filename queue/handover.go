package queue

import (
	"context"

	"github.com/docket-go/docket/lock"
)

// An Answer is what became of one hand-over.
type Answer int

// The three answers. The zero value is the one that claims nothing.
const (
	Unconfirmed Answer = iota // nothing is proven
	Taken                     // the harness has the message
	Refused                   // nothing of the message reached the harness
)

// String returns the word for a.
func (a Answer) String() string {
	switch a {
	case Taken:
		return "taken"
	case Refused:
		return "refused"
	}
	return "unconfirmed"
}

// A Verdict says what a pass does with the oldest entry.
type Verdict int

// The verdicts of [Handover.Check] and [Handover.Ready].
const (
	Hand   Verdict = iota // hand it over
	Settle                // it is proven to be delivered: settle and remove it
	Drop                  // it is owed no more: remove it
)

// A Handover is what a pass asks of its caller. Only Insert is needed.
//
// A panic of Insert counts as Unconfirmed, one of Ready as an error; any other
// callback's goes through, with the record lock freed and the books as they are.
type Handover struct {
	// Lock takes the record lock. Nil means the queue's own.
	Lock func(ctx context.Context) (*lock.Record, error)

	// Before is asked before each entry, under the record lock, so that it must not
	// wait for anything; its error ends the pass and is returned as it is. Nil means
	// go on.
	Before func(ctx context.Context) error

	// Check is asked first about the oldest entry, under the record lock. An error
	// ends the pass, the entry stays owed, and the reason is noted. Nil means Hand.
	Check func(ctx context.Context, held *lock.Record, e Entry) (Verdict, error)

	// Ready is asked after Check said Hand, without the record lock, before the
	// entry is claimed: it looks up what is unconfirmed, sees whether the harness
	// can take anything, and syncs what has to be on stable storage. An error ends
	// the pass, the entry stays owed (and unconfirmed, if it was), and the reason is
	// noted. Hand means hand over, an unconfirmed entry again. Nil means Hand, but an
	// unconfirmed entry ends the pass with [ErrUnconfirmed].
	Ready func(ctx context.Context, e Entry) (Verdict, error)

	// Owing says that something is owed, as far as the caller knows, so that the pass
	// does not look before it takes the record lock.
	Owing bool

	// Unasked reports, under the record lock, that Ready has nothing to do for the
	// entry, which is not unconfirmed. It is claimed then in the hold in which Check
	// said Hand. Nil means that Ready is always asked.
	Unasked func(e Entry) bool

	// Insert hands the entry to the harness, without the record lock, once its claim
	// is written. Taken with an error counts as Unconfirmed.
	Insert func(ctx context.Context, e Entry) (Answer, error)

	// Settle records the delivery, under the record lock, before the entry is removed
	// in the same hold. An error leaves the entry claimed and ends the pass. Nil means
	// that nothing is recorded.
	Settle func(ctx context.Context, held *lock.Record, e Entry) error

	// Late is called in place of Settle when an entry was taken that somebody else
	// removed while Insert ran. Nil means that nothing is recorded.
	Late func(ctx context.Context, held *lock.Record, e Entry) error

	// Drop records that the entry is owed no more, under the record lock, before the
	// verdict Drop removes it in the same hold. Nil means that nothing is recorded.
	Drop func(ctx context.Context, held *lock.Record, e Entry) error

	// Over is called when nothing is owed, still under the record lock, and ends the
	// pass. Who gives the delivery lock back in it need not look again afterwards: what
	// is enqueued from then on finds the lock free. Nil means nothing.
	Over func() error

	// Uncounted leaves Drained.Owed at zero. A pass that ends with an error counts the
	// file where another handle changed it; who does not ask for the number saves that.
	Uncounted bool
}

// Drained is what a pass did.
type Drained struct {
	MIDs []string // delivered, in order: taken, or proven to be
	Owed int      // entries that were left when the pass ended, unless Uncounted
}
