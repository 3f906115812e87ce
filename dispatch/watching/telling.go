package watching

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/docket-go/docket/compose"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/lock/step"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

// Operation is that of the messages to watchers. Their key is the text of the cursor
// that names the event: session, epoch and sequence.
const Operation = "watch"

const (
	noteEvery  = 256 // messages, which are what a death makes Tell send again
	passedMost = 256 // events without news, which are what each Tell reads again
)

// working is the display word of what is routine.
var working = timeline.DisplayWord(session.StatusActive, "")

// A telling is one run of [Watches.Tell].
type telling struct {
	w *Watches
	*session.Session
	end timeline.Cursor

	spans   list              // with the places that they have got to
	gone    map[watcher]bool  // those that were closed
	stopped map[watcher]error // those that are told no more this time, and why
	owes    map[string]bool   // ids that got something
	sent    int               // messages
	fresh   int               // messages since the places were noted
}

func newTelling(w *Watches, s *session.Session) *telling {
	return &telling{
		w: w, Session: s,
		gone: map[watcher]bool{}, stopped: map[watcher]error{}, owes: map[string]bool{},
	}
}

func (t *telling) run(ctx context.Context) error {
	if err := t.heal(ctx); err != nil {
		return err
	}
	// The end is read before the list: what is before it was declared before the
	// end of any watch that the list shows as going on.
	var err error
	if t.end, err = t.Timeline().End(ctx); err != nil {
		return err
	}
	if t.spans, err = load(t.Session); err != nil {
		return err
	}
	due := len(t.spans) == 0 // a death left the empty list
	if from := t.from(ctx); !from.IsZero() {
		// Nobody is told what a power cut could still take back.
		if err := t.Timeline().SyncAll(ctx); err != nil {
			return err
		}
		due, err = t.read(ctx, from)
	}
	if due || t.fresh > 0 || len(t.gone) > 0 || slices.ContainsFunc(t.spans, span.over) {
		err = errors.Join(err, t.note(ctx))
	}
	return errors.Join(err, t.untold())
}

// heal appends the event of a declaration whose process died before it could.
func (t *telling) heal(ctx context.Context) error {
	if !t.Locks().Interrupted() {
		return nil
	}
	held, err := t.Locks().Record(ctx)
	if err != nil {
		return err
	}
	defer held.Release()
	return t.Heal(ctx, held)
}

// limit is the sequence up to which the span is told now.
func (t *telling) limit(sp span) uint64 {
	if sp.Until != nil {
		return min(sp.Until.Seq(), t.end.Seq())
	}
	return t.end.Seq()
}

// from returns the first place behind which there may be news, and the zero cursor if
// there is none. A watcher whose place is none in this log is stopped.
func (t *telling) from(ctx context.Context) (first timeline.Cursor) {
	fits := map[timeline.Cursor]error{t.end: nil}
	for _, sp := range t.spans {
		err, known := fits[sp.Place]
		if !known {
			err = fit(ctx, t.Timeline(), sp.Place)
			fits[sp.Place] = err
		}
		if placeless(err) {
			err = fmt.Errorf("%w: end the watch and begin it again", err)
		}
		if err != nil {
			t.stop(sp, err)
			continue
		}
		if sp.Place.Seq() < t.limit(sp) && (first.IsZero() || sp.Place.Seq() < first.Seq()) {
			first = sp.Place
		}
	}
	return first
}

// fit returns nil if c is a place in the log.
func fit(ctx context.Context, log *timeline.Log, c timeline.Cursor) error {
	for _, err := range log.From(ctx, c) {
		if !errors.Is(err, timeline.ErrCorrupt) {
			return err
		}
		break
	}
	return nil
}

// read tells what stands in the log from a place on, and moves the spans on. It
// reports whether that is worth noting although nothing was sent.
func (t *telling) read(ctx context.Context, from timeline.Cursor) (due bool, err error) {
	var unreadable error
	for e, err := range t.Timeline().From(ctx, from) {
		if errors.Is(err, timeline.ErrCorrupt) {
			unreadable, due = errors.Join(unreadable, err), true
			continue
		}
		if err == nil && e.Seq >= t.end.Seq() {
			break
		}
		if err == nil && e.Kind == timeline.KindStatus {
			err = t.tell(ctx, e)
		}
		if err != nil {
			return due, errors.Join(unreadable, err)
		}
	}
	for i, sp := range t.spans {
		limit := t.limit(sp)
		if t.passes(sp) || sp.Place.Seq() >= limit {
			continue
		}
		due = due || limit-sp.Place.Seq() >= passedMost
		if t.spans[i].Place, err = t.Timeline().CursorAt(ctx, limit); err != nil {
			return due, errors.Join(unreadable, err)
		}
	}
	return due, unreadable
}

// passes reports that the span's watcher is told nothing more this time.
func (t *telling) passes(sp span) bool {
	return t.gone[sp.watcher()] || t.stopped[sp.watcher()] != nil
}

// tell sends one event to each who watches it. The error is one for all of them.
func (t *telling) tell(ctx context.Context, e timeline.Event) error {
	n := News{Session: t.ID(), Event: e}
	for i, sp := range t.spans {
		if t.passes(sp) || e.Seq < sp.Place.Seq() || e.Seq >= t.limit(sp) || !sp.Working && e.Display() == working {
			continue
		}
		if n.Next.IsZero() {
			var err error
			if n.Before, err = t.Timeline().CursorAt(ctx, e.Seq); err == nil {
				n.Next, err = t.Timeline().CursorAt(ctx, e.Seq+1)
			}
			if err != nil {
				return err
			}
		}
		n.By = sp.By
		err := t.send(ctx, sp, n)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case t.gone[sp.watcher()]:
		case err != nil:
			t.spans[i].Place = n.Before
			t.stop(sp, err)
		default:
			t.spans[i].Place = n.Next
		}
	}
	if t.fresh < noteEvery {
		return nil
	}
	return t.note(ctx)
}

// send makes the message of one span about one event.
func (t *telling) send(ctx context.Context, sp span, n News) error {
	a, err := t.accept(ctx, sp, n)
	if errors.Is(err, session.ErrNotFound) || errors.Is(err, lock.ErrClosed) {
		closed, unknown := t.w.closed(sp.watcher())
		if closed {
			t.gone[sp.watcher()] = true
			return nil
		}
		err = cmp.Or(unknown, err)
	}
	if err != nil {
		return err
	}
	step.At("watching: sent")
	t.fresh++
	if !a.Replayed {
		t.sent++
	}
	if !a.Delivered {
		t.owes[sp.By] = true
	}
	return nil
}

// accept sends the message. Where it would be too large for the store, it has less of
// the note. A key that was used for another text is that of a message that another
// version, or other options, worded.
func (t *telling) accept(ctx context.Context, sp span, n News) (dispatch.Accepted, error) {
	m := dispatch.Message{
		From: n.Session, ReplyVia: compose.Terminal, // the text says how to answer
		Operation: Operation, Key: n.Before.String(), Attributes: n.attributes(),
		ToLife: &sp.Life, NoDrain: true, Outlives: true,
	}
	m.Text = t.w.options.Text(n)
	a, err := t.w.dispatch.SendText(ctx, n.By, m)
	if large := (*timeline.TooLargeError)(nil); errors.As(err, &large) {
		n.MaxNote = max(min(len(n.Event.Note), maxNoteBytes)-(large.Bytes-large.Limit)-slack, 0)
		if n.MaxNote == 0 {
			n.MaxNote = -1
		}
		m.Text = t.w.options.Text(n)
		a, err = t.w.dispatch.SendText(ctx, n.By, m)
	}
	if errors.Is(err, dispatch.ErrKeyReused) {
		return dispatch.Accepted{Session: n.By, Replayed: true, Delivered: true}, nil
	}
	return a, err
}

// slack is what the text needs beside the note where it does not show all of it.
const slack = 512

func (t *telling) stop(sp span, err error) {
	if t.stopped[sp.watcher()] == nil {
		t.stopped[sp.watcher()] = err
	}
}

// untold is the error about those who were stopped.
func (t *telling) untold() error {
	e := &UntoldError{Session: t.ID()}
	for _, sp := range t.spans {
		err := t.stopped[sp.watcher()]
		if err == nil || slices.Contains(e.By, sp.By) {
			continue
		}
		if e.By = append(e.By, sp.By); e.Err == nil {
			e.Err = err
		}
	}
	if e.Err == nil {
		return nil
	}
	return e
}

// note writes down how far the watchers were told. Others may have told them more
// meanwhile, and a watch may have ended: a place only grows.
func (t *telling) note(ctx context.Context) error {
	step.At("watching: told")
	held, err := t.Locks().Record(ctx)
	if err != nil {
		return err
	}
	defer held.Release()
	before, err := load(t.Session)
	if err != nil {
		return err
	}
	places := map[string]timeline.Cursor{}
	for _, sp := range t.spans {
		places[sp.ID] = sp.Place
	}
	after := slices.Clone(before)
	for i, sp := range after {
		if place, known := places[sp.ID]; known && place.Seq() > sp.Place.Seq() {
			after[i].Place = place
		}
	}
	after = slices.DeleteFunc(after, func(sp span) bool { return sp.over() || t.gone[sp.watcher()] })
	t.fresh = 0
	if len(after) > 0 && slices.Equal(before, after) {
		return nil
	}
	return after.save(held, t.Session)
}
