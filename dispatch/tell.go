package dispatch

import (
	"context"
	"errors"
	"log/slog"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
	"github.com/docket-go/docket/timeline/segment"
	"github.com/docket-go/docket/timeline/session"
)

// tellSent counts a send and logs it, with what the pass behind it did.
func (d *Dispatcher) tellSent(ctx context.Context, a Accepted, done Pass) {
	d.options.Counters.accepted(a)
	if d.options.Logger == nil {
		return
	}
	what := "accepted"
	if a.Replayed {
		what = "replayed"
	}
	d.options.Logger.InfoContext(ctx, what, "session", a.Session, "mid", a.MID)
	d.tellPass(ctx, done, a.Pass)
}

// tellConfirmed counts and logs what a person or a hook has seen.
func (d *Dispatcher) tellConfirmed(ctx context.Context, id, mid string, absent bool) {
	what := "confirmed"
	if absent {
		what = "absent"
	} else {
		d.options.Counters.confirmed()
	}
	if d.options.Logger != nil {
		d.options.Logger.InfoContext(ctx, what, "session", id, "mid", mid)
	}
}

// tellRevoked counts and logs what was taken back.
func (d *Dispatcher) tellRevoked(ctx context.Context, id string, mids []string) {
	d.options.Counters.revoked(mids)
	if d.options.Logger != nil {
		tellEach(ctx, d.options.Logger.With("session", id), "revoked", mids)
	}
}

// tellPass logs what a pass did, and why it ended.
func (d *Dispatcher) tellPass(ctx context.Context, done Pass, err error) {
	if d.options.Logger == nil {
		return
	}
	log := d.options.Logger.With("session", done.Session)
	tellDone(ctx, log, done)
	if err == nil || ctx.Err() != nil && errors.Is(err, ctx.Err()) || quiet(err) {
		return
	}
	d.tellStop(ctx, log, slog.LevelWarn, done.Session, err)
}

func tellDone(ctx context.Context, log *slog.Logger, done Pass) {
	tellEach(ctx, log, "delivered", done.Delivered)
	tellEach(ctx, log, "revoked", done.Voided)
}

func tellEach(ctx context.Context, log *slog.Logger, what string, mids []string) {
	for _, mid := range mids {
		log.InfoContext(ctx, what, "mid", mid)
	}
}

// tellReplaced logs what became of a queue that was not the one that was left.
func (d *Dispatcher) tellReplaced(done *Repaired) {
	if done == nil || d.options.Logger == nil {
		return
	}
	ctx, log := context.Background(), d.options.Logger.With("session", done.Session)
	log.WarnContext(ctx, "queue replaced", "ended", len(done.Dropped), "forgotten", len(done.Restored))
	tellEach(ctx, log, "ended", done.Dropped)
	tellEach(ctx, log, "forgotten", done.Restored)
}

// quiet reports that a pass ended for no reason that anybody has to know: others go on
// with what is owed, or nothing is.
func quiet(err error) bool {
	return gone(err) || errors.Is(err, lock.ErrBusy) || errors.Is(err, errBudget)
}

// tellStop logs why a pass ended. A level above debug is that of what may pass by
// itself; what does not is an error.
func (d *Dispatcher) tellStop(ctx context.Context, log *slog.Logger, level slog.Level, id string, err error) {
	if !log.Enabled(ctx, level) {
		return
	}
	var ended *PassError
	var late *lock.TimeoutError
	switch {
	case errors.As(err, &ended) && ended.MID != "":
		what := "unconfirmed"
		if ended.Answer == adapter.Refused {
			what = "refused"
		}
		log.Log(ctx, level, what, "mid", ended.MID, "attempts", d.attempts(id, ended.MID), "reason", ended.Err.Error())
	case errors.As(err, &late):
		log.Log(ctx, level, "lock timeout", "lock", late.Lock, "waited", late.Waited.String(), "error", err.Error())
	case unreadable(err):
		if level > slog.LevelDebug {
			level = slog.LevelError
		}
		log.Log(ctx, level, "corrupt", "error", err.Error())
	default:
		log.Log(ctx, level, "not delivered", "error", err.Error())
	}
}

// unreadable reports that what is stored keeps the pass from going on.
func unreadable(err error) bool {
	for _, corrupt := range []error{queue.ErrCorrupt, session.ErrUnreadable, segment.ErrCorrupt} {
		if errors.Is(err, corrupt) {
			return true
		}
	}
	return false
}

// attempts returns how often the oldest message of a session was tried, and 0 where
// that is not to be had.
func (d *Dispatcher) attempts(id, mid string) int {
	h, err := d.handles.get(id)
	if err != nil {
		return 0
	}
	defer d.handles.put(h)
	e, _, _ := h.queue.Peek()
	if e.MID != mid {
		return 0
	}
	return e.Attempts
}
