package fleet

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/docket-go/docket/timeline/session"
)

// positionFile is the file of a [Position] in its reader's session directory.
const positionFile = "fleet.cursor"

// ErrCorrupt is what every [*PositionError] is.
var ErrCorrupt = errors.New("fleet: position cannot be read")

// A PositionError says which file does not hold a position. It is left as it is, and
// never read as that of a reader who has read nothing. It is [ErrCorrupt] to errors.Is.
type PositionError struct {
	Path string
	Err  error // what is wrong with it
}

// Error names the file, what is wrong and what to do.
func (e *PositionError) Error() string {
	return fmt.Sprintf("%s holds no position: %v: remove it to begin anew, which gives every event again", e.Path, e.Err)
}

// Is reports whether target is [ErrCorrupt].
func (e *PositionError) Is(target error) bool { return target == ErrCorrupt }

// Unwrap returns what is wrong with the file.
func (e *PositionError) Unwrap() error { return e.Err }

// A Position is how far a reader has come in a fleet, kept in a file of the reader's
// own session, with which it dies. It only ever moves forward: in no life of a session
// does it go back, also while several readers with one name save what each of them has
// read. A session that was closed and made again begins anew.
//
// A reader follows with [Position.Resume], calls [Position.Advance] for what it has dealt
// with, and [Position.Save] now and then: what was not saved when it died is given again
// to the next one. A Position is used by one goroutine at a time; the file by any number
// of processes.
type Position struct {
	store  *session.Store
	reader *session.Session
	next   Cursor         // how far this reader has come
	left   map[string]tag // the lives that have left since the last Save
	moved  bool           // next or left changed since
}

// OpenPosition reads the position that the session named reader keeps. The error is
// that of [session.Store.Open], in particular [session.ErrNotFound]; [ErrCorrupt]; or
// of the disk. The caller calls [Position.Close].
func OpenPosition(store *session.Store, reader string) (*Position, error) {
	s, err := store.Open(reader)
	if err != nil {
		return nil, err
	}
	p := &Position{store: store, reader: s, left: map[string]tag{}}
	if p.next, err = keptBy(s); err != nil {
		return nil, errors.Join(err, s.Release())
	}
	return p, nil
}

// CheckPosition returns nil if the session keeps a whole position, or none. Otherwise
// the error is [ErrCorrupt], or of the disk.
func CheckPosition(reader *session.Session) error {
	_, err := keptBy(reader)
	return err
}

// Close gives back the reader's session. It saves nothing.
func (p *Position) Close() error { return p.reader.Release() }

// Cursor returns how far the reader has come: what was kept when the position was opened,
// and what Advance noted since. It is the zero Cursor of a reader that has no position
// yet, which [After] does not take; [Position.Resume] minds that.
func (p *Position) Cursor() Cursor { return p.next }

// Resume returns o for a reader that goes on here: with [After] behind the place where it
// has come, and with [FromStart] where it has no position yet. Mode and After of o are
// replaced, and the rest stays.
func (p *Position) Resume(o Options) Options {
	o.Mode, o.After = FromStart, Cursor{}
	if !p.next.IsZero() {
		o.Mode, o.After = After, p.next
	}
	return o
}

// Advance notes that the reader has dealt with an update, and all before it.
func (p *Position) Advance(u Update) {
	if u.Next.IsZero() {
		return // an error that ends the iteration
	}
	if u.Left {
		if was, known := p.next.at(u.Session); known {
			p.left[u.Session] = was.log
		}
	}
	p.next, p.moved = u.Next, true
	p.next.kept = true
}

// Moved reports whether there is something to save.
func (p *Position) Moved() bool { return p.moved }

// Save moves the kept position to where the reader has come, wherever it is behind. It
// replaces the file, with a sync, which is much more than an event costs: save after
// many events, or when there are no more for now.
//
// A nil error promises that the position is kept. After an error, which is that of the
// record lock, [ErrCorrupt] or that of the disk, it may be saved again. If the process
// dies inside, the old or the new position is kept.
func (p *Position) Save(ctx context.Context) error {
	if !p.moved {
		return nil
	}
	held, err := p.reader.Locks().Record(ctx)
	if err != nil {
		return err
	}
	old, err := keptBy(p.reader)
	if err == nil {
		if merged := p.merge(ctx, old).String(); merged != old.String() {
			err = p.reader.Keep(held, positionFile, []byte(merged+"\n"))
		}
	}
	if err = errors.Join(err, held.Release()); err != nil {
		return err
	}
	p.moved = false
	clear(p.left)
	return nil
}

// keptBy reads the file of a reader. The zero Cursor stands for none.
func keptBy(reader *session.Session) (Cursor, error) {
	path := filepath.Join(reader.Dir(), positionFile)
	data, found, err := reader.Kept(positionFile, MaxCursorText+1)
	var bad *session.RecordError
	switch {
	case errors.As(err, &bad):
		return Cursor{}, &PositionError{path, bad.Err}
	case err != nil || !found:
		return Cursor{}, err
	}
	text, whole := strings.CutSuffix(string(data), "\n")
	if !whole {
		return Cursor{}, &PositionError{path, errCutShort}
	}
	c, err := ParseCursor(text)
	if err != nil {
		return Cursor{}, &PositionError{path, err}
	}
	c.kept = true
	return c, nil
}

// merge returns the cursor old, moved forward to where the reader is.
func (p *Position) merge(ctx context.Context, old Cursor) Cursor {
	merged := old.byID()
	for id, life := range p.left {
		now, again := p.next.at(id)
		if merged[id].log == life && !(again && now.log == life) {
			delete(merged, id)
		}
	}
	for id, now := range p.next.byID() {
		if was, known := merged[id]; !known || p.isNewer(ctx, now, was) {
			merged[id] = now
		}
	}
	return cursorOf(sorted(merged))
}

// isNewer reports whether a place is further on than another in the same session. Of
// two in different lives it is the one in the present life, as far as that can be told.
func (p *Position) isNewer(ctx context.Context, now, was place) bool {
	switch {
	case now.log == was.log:
		return now.seq > was.seq
	case now.log == tag{} || was.log == tag{}:
		return was.log == tag{}
	}
	s, err := p.store.Open(now.id)
	if err != nil {
		return false
	}
	end, err := s.Timeline().End(ctx)
	return errors.Join(err, s.Release()) == nil && tagOf(end.Epoch()) == now.log
}
