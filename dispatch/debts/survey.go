package debts

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/timeline/session"
)

// DefaultOldest is what [Options] means where it does not say otherwise.
const DefaultOldest = 10

// Options configures [Take]. The zero value is ready to use.
type Options struct {
	// Oldest is how many debts are kept. Zero means [DefaultOldest]; a negative value
	// means none.
	Oldest int

	// Now is the clock. Nil means time.Now.
	Now func() time.Time
}

// A Survey is what the sessions of a store are owed.
type Survey struct {
	At   time.Time     // when it was begun
	Took time.Duration // until it was done

	Sessions    int // in the store
	Owing       int // of them owe something
	Owed        int // messages, as far as they can be read
	Handing     int // oldest messages that are being handed over now
	Unconfirmed int // oldest messages that were handed over, and nobody knows whether they arrived
	Unreadable  int // sessions whose queue, or directory, cannot be read

	// Oldest are the debts whose oldest messages have been waiting longest, the longest
	// first. Those that do not say since when are not among them.
	Oldest []Debt
}

// Take looks at each session of the store once. Sessions that are created or closed
// meanwhile may be in it or not.
//
// A nil error means that every session was looked at. Otherwise the store cannot be
// listed or ctx has ended, and the Survey is of what was seen until then. It may be
// called at any time, beside all others that use the store.
func Take(ctx context.Context, store *session.Store, o Options) (s Survey, err error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	s.At = o.Now()
	defer func() { s.Took = o.Now().Sub(s.At) }()
	oldest := max(cmp.Or(o.Oldest, DefaultOldest), 0)
	for id, err := range store.IDs(ctx) {
		if err != nil {
			return s, err
		}
		d, err := Of(id, filepath.Join(store.SessionsDir(), id))
		s.Add(d, err, oldest)
	}
	return s, ctx.Err()
}

// Add takes the answer of [Of] for one session into account, unless the session is gone,
// and keeps the debt if it is one of so many oldest. It is for who looks at the sessions
// for other reasons too; others use [Take].
func (s *Survey) Add(d Debt, err error, oldest int) {
	if errors.Is(err, lock.ErrClosed) || errors.Is(err, session.ErrNotFound) {
		return
	}
	s.Sessions++
	s.Owed += d.Owed
	if err != nil {
		s.Unreadable++
	}
	if d.Owed > 0 {
		s.Owing++
	}
	if d.Unconfirmed {
		s.Unconfirmed++
	}
	if d.Handing {
		s.Handing++
	}
	if d.Owed > 0 && !d.EnqueuedAt.IsZero() {
		s.keep(d, oldest)
	}
}

// keep puts a debt at its place among the oldest.
func (s *Survey) keep(d Debt, most int) {
	at, _ := slices.BinarySearchFunc(s.Oldest, d, func(a, b Debt) int {
		return cmp.Or(a.EnqueuedAt.Compare(b.EnqueuedAt), cmp.Compare(a.Session, b.Session))
	})
	s.Oldest = slices.Insert(s.Oldest, at, d)
	s.Oldest = s.Oldest[:min(len(s.Oldest), most)]
}
