package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/lock/step"
)

// New is a session to be created.
type New struct {
	ID       string // must be a [ValidID]
	Title    string
	Parent   string            // the session that it belongs to; empty means none
	Adapter  string            // the name of its adapter; empty means none
	Settings map[string]string // of the adapter
}

// Create makes a session, and the store if there is none yet, for the user alone
// (0700). The session appears in the store as a whole. It has declared nothing and
// has no event. The id of a closed session may be used again: that is a new life,
// to which nothing of the old one belongs; see [Store.Closed].
//
// A nil error means that the session is on stable storage (with Buffered: made).
// The error is [ErrBadID], [ErrField], [ErrTooLarge] or [ErrExists], comes from
// the locks, or from the file system; no session was made then. If it is
// [segment.ErrFaulted] a whole one may have been, which the first change of it makes
// durable. Any number of processes may create at once; of those
// with the same id one succeeds. If the process dies inside, there is no session
// or a whole one, and what it left aside is removed by a later Create or Close.
func (s *Store) Create(ctx context.Context, n New) (*Session, error) {
	if err := ValidID(n.ID); err != nil {
		return nil, err
	}
	r := Record{
		ID: n.ID, Title: n.Title, Parent: n.Parent, Adapter: n.Adapter, Settings: n.Settings,
		CreatedAt: s.now(),
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	if err := s.establish(ctx, r); err != nil {
		return nil, err
	}
	return s.Open(n.ID)
}

func (s *Store) establish(ctx context.Context, r Record) error {
	id := r.ID
	if _, err := os.Lstat(s.sessionDir(id)); err == nil {
		return s.exists(id)
	}
	// As a rule this is the life that the session will have; publish makes sure.
	closing, _, err := s.Closed(id)
	if err != nil && !errors.Is(err, ErrUnreadable) {
		return err
	}
	r.Life = closing.Lives
	record, err := r.stored()
	if err != nil {
		return err
	}
	if err := s.disk.makeDir(s.stagingDir(), s.durable()); err != nil {
		return fmt.Errorf("session %s: make the store: %w", id, err)
	}
	if err := s.sweep(); err != nil {
		return fmt.Errorf("session %s: %w", id, err)
	}
	b, err := s.newBuild()
	if err != nil {
		return fmt.Errorf("session %s: %w", id, err)
	}
	step.At("session: new directory made")
	if err = s.publish(ctx, b, r, record); err != nil {
		err = errors.Join(err, s.disk.removeTree(b.dir))
	}
	return errors.Join(err, b.release())
}

// publish fills the new directory and gives it its name. A session has files in it
// from the beginning, so that no rename ever replaces one.
//
// Its record lock is held meanwhile and called clean at the end only. If the process
// dies in between, the lock is interrupted, as one is that nobody has used: whoever
// finds the session then makes its name durable before anything is put into it.
func (s *Store) publish(ctx context.Context, b *build, r Record, record []byte) (err error) {
	held, err := b.locks.Record(ctx)
	if err != nil {
		return fmt.Errorf("session %s: %w", r.ID, err)
	}
	defer func() { err = errors.Join(err, held.Release()) }()
	step.At("session: new record lock made")
	if err := s.fill(b, record); err != nil {
		return fmt.Errorf("session %s: make it: %w", r.ID, err)
	}
	if err := s.place(ctx, b, r); err != nil {
		return err
	}
	step.At("session: new directory placed")
	if s.durable() {
		if err := inDoubt(s.disk.syncDirs(s.stagingDir(), s.SessionsDir())); err != nil {
			return fmt.Errorf("session %s: it is made: %w", r.ID, err)
		}
	}
	step.At("session: new directory synced")
	return held.Recovered()
}

func (s *Store) fill(b *build, record []byte) error {
	if err := s.disk.writeFile(filepath.Join(b.dir, recordFile), record, s.durable()); err != nil {
		return err
	}
	step.At("session: new session.json made")
	if !s.durable() {
		return nil
	}
	return s.disk.syncDir(b.dir)
}

// place is the part of publish in which no other session of the store gets its
// name. If there is none with the id at its start, none can be closed until its
// end, so that the mark which is read in between is the last word about earlier lives.
func (s *Store) place(ctx context.Context, b *build, r Record) (err error) {
	names, err := lock.Open(s.stagingDir(), s.lockOptions())
	if err != nil {
		return fmt.Errorf("session %s: %w", r.ID, err)
	}
	defer func() { err = errors.Join(err, names.Close()) }()
	held, err := names.Record(ctx)
	if err != nil {
		return fmt.Errorf("session %s: wait for those that are being created: %w", r.ID, err)
	}
	defer func() { err = errors.Join(err, held.Release()) }()
	dir := s.sessionDir(r.ID)
	if _, err := os.Lstat(dir); err == nil {
		return s.exists(r.ID)
	}
	life, err := s.nextLife(r.ID)
	if err != nil {
		return err
	}
	step.At("session: life known")
	if err := s.setLife(b, r, life); err != nil {
		return fmt.Errorf("session %s: number it: %w", r.ID, err)
	}
	if err := s.disk.rename(b.dir, dir); err != nil {
		return fmt.Errorf("session %s: %w", r.ID, err)
	}
	return nil
}

// setLife replaces the record if it says another life.
func (s *Store) setLife(b *build, r Record, life uint64) error {
	if r.Life == life {
		return nil
	}
	r.Life = life
	data, err := r.stored()
	if err != nil {
		return err
	}
	_, err = s.disk.replaceFile(b.dir, recordFile, recordNewFile, data, s.durable())
	return err
}

func (s *Store) exists(id string) error {
	return fmt.Errorf("%w: %s in %s: open it, or use another id", ErrExists, id, s.dir)
}

// A build is the directory of a session that is being created. Its delivery lock
// is held, which tells it from one whose builder died.
type build struct {
	dir   string
	locks *lock.Dir
	guard *lock.Delivery
}

func (b *build) release() error { return errors.Join(b.guard.Release(), b.locks.Close()) }
