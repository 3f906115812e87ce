package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/timeline"
)

// Check holds what the store says of the session against each other, and returns
// what does not fit, as a [*RecordError] or an [*Oddity] each. Nothing of it keeps
// the session from being used, but for a record that cannot be read. It changes
// nothing, and does not look into the timeline's own files, as [timeline.Log.Verify]
// does.
//
// It waits for the record lock, which the caller must not hold; where nobody can
// write it does without. What a change left that was interrupted, and the next one
// completes, is not among the answers. The error is that of the lock or of the disk.
func (s *Session) Check(ctx context.Context) (odd []error, err error) {
	held, err := s.locks.Record(ctx)
	switch {
	case errors.Is(err, lock.ErrReadOnly), errors.Is(err, lock.ErrUnsupported):
	case err != nil:
		return nil, fmt.Errorf("session %s: %w", s.id, err)
	}
	defer func() { err = errors.Join(err, held.Release()) }()
	c := checking{Session: s}
	r, err := s.Record()
	if c.unreadable(err) {
		err = nil
	} else if err == nil {
		err = c.record(ctx, r, held != nil && held.Interrupted())
	}
	return c.odd, errors.Join(err, c.leftovers())
}

// A checking gathers what does not fit.
type checking struct {
	*Session
	odd []error
}

func (c *checking) add(path, format string, args ...any) *Oddity {
	o := &Oddity{Session: c.id, Path: path, Reason: fmt.Sprintf(format, args...)}
	c.odd = append(c.odd, o)
	return o
}

// unreadable notes an error about a file that is there and cannot be read.
func (c *checking) unreadable(err error) bool {
	var bad *RecordError
	if !errors.As(err, &bad) {
		return false
	}
	c.odd = append(c.odd, bad)
	return true
}

func (c *checking) record(ctx context.Context, r Record, interrupted bool) error {
	path := filepath.Join(c.dir, recordFile)
	if r.ID != c.id {
		c.add(path, "it is the record of session %.128q: the name of the directory counts; correct session_id if it was copied here on purpose", r.ID)
	}
	if err := c.life(path, r); err != nil {
		return err
	}
	if interrupted || r.declared == nil || r.Launching && r.frozen == nil {
		return nil
	}
	if _, err := c.log.CursorAt(ctx, r.declared.Seq+1); errors.Is(err, timeline.ErrFutureCursor) {
		c.add(path, "what it declares should be event %d, which the log does not have: the next change appends it", r.declared.Seq).Damage = true
		return nil
	} else if err != nil {
		return err
	}
	last, err := c.lastStatus(ctx)
	if err == nil && declarationOf(last) != r.Authored() {
		c.add(path, "it declares %.70q, and the last status in the log is %.70q: declare again", r.Authored().Status, last.Status)
	}
	return err
}

func (c *checking) life(path string, r Record) error {
	mark := c.store.markPath(c.id)
	closed, _, err := c.store.Closed(c.id)
	switch {
	case c.unreadable(err):
		return nil
	case err != nil:
		return err
	case r.Life < closed.Lives:
		c.add(path, "life %d of the id is marked as closed in %s, and it is still here: its close was interrupted, or it was put back from a copy, and what it says to others is refused: close it again", r.Life, mark)
	case r.Life > closed.Lives:
		c.add(mark, "it says that %d lives of the id are closed, and this one is number %d: what the lives before it still owe others is not void", closed.Lives, r.Life)
	}
	return nil
}

// leftovers notes what nobody removes. A plain file session.json.new is none: a
// process that died leaves one, and the next change takes its name.
func (c *checking) leftovers() error {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return fmt.Errorf("session %s: %w", c.id, err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), recordNewFile) || e.Name() == recordNewFile && e.Type().IsRegular() {
			continue
		}
		c.add(filepath.Join(c.dir, e.Name()), "it stood, or stands, where a new record is to be written: remove it")
	}
	return nil
}
