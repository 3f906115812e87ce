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
// the locks, or from the file system; no session was made then, or, if the last
// sync failed, a whole one. Any number of processes may create at once; of those
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
	if err := makeDir(s.stagingDir(), s.durable()); err != nil {
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
	err = b.fill(ctx, record, s.durable())
	if err == nil {
		err = s.publish(ctx, b, r)
	}
	if err != nil {
		err = errors.Join(err, os.RemoveAll(b.dir))
	}
	return errors.Join(err, b.release())
}

// fill writes the files of a new session. They agree with each other, so that its
// record lock starts out clean.
func (b *build) fill(ctx context.Context, record []byte, durable bool) error {
	held, err := b.locks.Record(ctx)
	if err != nil {
		return err
	}
	err = held.Recovered()
	step.At("session: new record lock made")
	if err == nil {
		err = writeFile(filepath.Join(b.dir, recordFile), record, durable)
	}
	step.At("session: new session.json made")
	if err == nil && durable {
		err = syncDir(b.dir)
	}
	return errors.Join(err, held.Release())
}

// publish gives the new directory its name. A session has files in it from the
// beginning, so that no rename ever replaces one.
func (s *Store) publish(ctx context.Context, b *build, r Record) error {
	if err := s.place(ctx, b, r); err != nil {
		return err
	}
	step.At("session: new directory placed")
	if !s.durable() {
		return nil
	}
	return errors.Join(syncDir(s.stagingDir()), syncDir(s.sessionsDir()))
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
	if err := b.setLife(r, life, s.durable()); err != nil {
		return err
	}
	if err := os.Rename(b.dir, dir); err != nil {
		return fmt.Errorf("session %s: %w", r.ID, err)
	}
	return nil
}

// setLife replaces the record if it says another life.
func (b *build) setLife(r Record, life uint64, durable bool) error {
	if r.Life == life {
		return nil
	}
	r.Life = life
	data, err := r.stored()
	if err != nil {
		return err
	}
	return replaceFile(b.dir, recordFile, recordNewFile, data, durable)
}

func (s *Store) exists(id string) error {
	return fmt.Errorf("%w: %s in %s: open it, or use another id", ErrExists, id, s.dir)
}

// makeDir makes dir and what is missing above it, for the user alone, and makes
// the new names durable. A symbolic link in its place is refused.
func makeDir(dir string, durable bool) error {
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, os.ErrNotExist) {
		if err := makeDir(filepath.Dir(dir), durable); err != nil {
			return err
		}
		err = os.Mkdir(dir, 0o700)
	}
	if errors.Is(err, os.ErrExist) {
		info, statErr := os.Lstat(dir)
		if statErr != nil || !info.IsDir() {
			return fmt.Errorf("%s is not a directory: remove it", dir)
		}
		return nil
	}
	if err != nil || !durable {
		return err
	}
	step.At("session: directory made")
	return syncDir(filepath.Dir(dir))
}

// A build is the directory of a session that is being created. Its delivery lock
// is held, which tells it from one whose builder died.
type build struct {
	dir   string
	locks *lock.Dir
	guard *lock.Delivery
}

func (b *build) release() error { return errors.Join(b.guard.Release(), b.locks.Close()) }
