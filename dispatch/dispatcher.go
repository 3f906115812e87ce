package dispatch

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/compose"
	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/timeline/session"
)

// DefaultBudget bounds the pass that follows a send when [Options] does not say
// otherwise.
const DefaultBudget = 5 * time.Second

// Options configures a [Dispatcher]. The zero value is ready to use and has no
// adapter, so that everything stays owed.
type Options struct {
	// Adapters are the kinds of adapters that a session's record may name.
	Adapters adapter.Registry

	// Texts are the inserts of package compose.
	Texts compose.Texts

	// Budget bounds the pass that a send makes: after it no further insert is
	// started. Zero means [DefaultBudget]; a negative value means that only the
	// context bounds it.
	Budget time.Duration

	// NewMID makes the id of a message. Nil means UUIDs of version 7, which sort
	// by time.
	NewMID func() (string, error)

	// Now is the clock. Nil means time.Now.
	Now func() time.Time

	// Counters count what the Dispatcher does; several may share them. Nil means that
	// nothing is counted, and costs nothing.
	Counters *Counters

	// Logger gets a line for what becomes of each message that the Dispatcher sends,
	// drains or decides about, when the call that did it returns. Each has the session,
	// and no line holds anything of a message's text or key. The words are stable:
	//
	//	INFO   accepted       mid
	//	INFO   replayed       mid: its key had come before with this content
	//	INFO   delivered      mid
	//	INFO   confirmed      mid: a person or a hook says that it arrived
	//	INFO   absent         mid: and that it did not
	//	INFO   revoked        mid
	//	WARN   refused        mid, attempts, reason: a pass ended at it, nothing was handed over
	//	WARN   unconfirmed    mid, attempts, reason: and that is not known
	//	WARN   lock timeout   lock, waited, error: others held the lock all that time
	//	ERROR  corrupt        error: nothing goes on before the file is repaired
	//	WARN   not delivered  error: any other reason why there was no pass
	//	WARN   queue replaced ended, forgotten: somebody put a copy of the queue in its place; how many
	//	INFO   ended          mid: the copy held it, and the timeline proves that it is not owed any more
	//	INFO   forgotten      mid: the copy did not hold it, and it is owed again
	//
	// Nil means that nothing is logged. A [Sweeper] logs its own passes.
	Logger *slog.Logger
}

// A Dispatcher sends to, and delivers for, the sessions of one store. It is safe
// for concurrent use; any number of Dispatchers in any number of processes may
// work on one store.
type Dispatcher struct {
	store   *session.Store
	options Options
	handles handles
	window  int // how much of a queue is held against its timeline at once
	group   int // how many messages one change takes back
}

// New returns a Dispatcher for the store. It touches no file.
func New(store *session.Store, o Options) *Dispatcher {
	if o.Budget == 0 {
		o.Budget = DefaultBudget
	}
	if o.NewMID == nil {
		o.NewMID = newMID
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	d := &Dispatcher{store: store, options: o, window: windowSize, group: revokeAtOnce}
	d.handles.open, d.handles.told, d.handles.idle = d.open, d.tellReplaced, idleHandles(descriptors())
	return d
}

// Store returns the store that d is for.
func (d *Dispatcher) Store() *session.Store { return d.store }

// Counters returns those that d counts with; nil if there are none.
func (d *Dispatcher) Counters() *Counters { return d.options.Counters }

// Close gives back the files that the Dispatcher keeps open. It must not be called
// while another method runs; the Dispatcher can be used again afterwards.
func (d *Dispatcher) Close() error { return d.handles.close() }

func newMID() (string, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return "", fmt.Errorf("make a message id: %w", err)
	}
	return id.String(), nil
}

// lockRecord takes the record lock of h and, where an earlier holder left it
// interrupted, makes queue and timeline agree before anything else happens. The lock is
// where a session that was just opened takes its first descriptor.
func (d *Dispatcher) lockRecord(ctx context.Context, h *handle) (*lock.Record, error) {
	held, err := h.Locks().Record(ctx)
	if scarce(err) && d.handles.clear() {
		held, err = h.Locks().Record(ctx)
	}
	if err != nil {
		return nil, d.options.Counters.waited(err)
	}
	if err := d.recoverHeld(ctx, h, held); err != nil {
		held.Release()
		return nil, err
	}
	return held, nil
}
