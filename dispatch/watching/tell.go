package watching

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/docket-go/docket/timeline/session"
)

// TellOptions configures [Watches.Tell]. The zero value is ready to use.
type TellOptions struct {
	// NoDrain leaves the delivery of the messages to a later pass.
	NoDrain bool
}

// Told is what one [Watches.Tell] did.
type Told struct {
	Session  string
	To       []string // watchers that got something, by id
	Messages int      // how many messages that is
	Ended    []string // watchers that were closed, and are off the list now, by id
}

// An UntoldError says which watchers could not be told. They are told by the next
// [Watches.Tell], from where they are, and nothing overtakes.
type UntoldError struct {
	Session string
	By      []string
	Err     error // why the first of them was not
}

// Error names the session, the first watcher, and why it was not told.
func (e *UntoldError) Error() string {
	others := ""
	if n := len(e.By) - 1; n > 0 {
		others = fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("session %s: %s%s could not be told yet: %v", e.Session, e.By[0], others, e.Err)
}

// Unwrap returns why the first of them was not told.
func (e *UntoldError) Unwrap() error { return e.Err }

// Tell sends to whoever watches the session id what was declared since it was told
// last, and then makes a delivery pass for each who got something, as a send does.
// For a session that nobody watches, or that is not there, it does nothing, which
// costs one stat.
//
// Nil promises that each declaration that was made before the call, and that is
// watched, is a message in its watcher's timeline and queue; what a delivery pass
// meets is told by the queue. An [*UntoldError] names those for whom it is not so yet,
// as with [queue.ErrCorrupt] or [ErrAway]; the others were told. A
// [*timeline.LineError] is a line of the watched timeline that cannot be read and may
// have been a declaration: it is passed over. The other errors are [ErrCorrupt], [ErrVersion], and those of the
// record lock and the disk; whoever was not told is told the next time.
//
// It may be called at the same time from any number of processes. Whoever sends the
// message about one event knows that all before it were sent, and a second message
// about the same event is the first one again; so none is missing, none comes twice,
// and none overtakes. If the process dies inside, the next call goes on.
func (w *Watches) Tell(ctx context.Context, id string, o TellOptions) (Told, error) {
	told := Told{Session: id}
	err := session.ValidID(id)
	if err == nil {
		_, err = os.Lstat(filepath.Join(w.store.SessionsDir(), id, fileName))
	}
	var s *session.Session
	if err == nil {
		s, err = w.store.Open(id)
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, session.ErrNotFound) {
		return told, nil
	}
	if err != nil {
		return told, err
	}
	t := newTelling(w, s)
	err = t.run(ctx)
	if s.Locks().Gone() {
		err = nil // and with it who watched it
	}
	told.Messages = t.sent
	told.To = slices.Sorted(maps.Keys(t.owes))
	for gone := range t.gone {
		told.Ended = append(told.Ended, gone.id)
	}
	slices.Sort(told.Ended)
	if !o.NoDrain {
		w.deliver(ctx, told.To)
	}
	return told, errors.Join(err, s.Release())
}

// deliver makes the passes for those who got something. What they meet is noted in
// the queues.
func (w *Watches) deliver(ctx context.Context, owed []string) {
	const parallel = 8
	var group errgroup.Group
	group.SetLimit(parallel)
	begun := w.options.Now()
	for _, id := range owed {
		group.Go(func() error {
			if w.options.Budget < 0 || w.options.Now().Sub(begun) < w.options.Budget {
				w.dispatch.Deliver(ctx, id)
			}
			return nil
		})
	}
	group.Wait()
}
