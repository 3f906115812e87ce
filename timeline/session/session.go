package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/timeline"
)

// A Session is an open session. It is safe for concurrent use, and any number of
// Sessions in any number of processes may stand for one session directory. When
// that is gone or replaced by a later session with the same id, methods answer
// [lock.ErrClosed].
type Session struct {
	store *Store
	id    string
	dir   string
	locks *lock.Dir
	log   *timeline.Log
	pen   pen
	memo  memo

	// agreed is the lock's generation, plus one, at which record and log were last
	// found to agree. It is used under the record lock.
	agreed uint64
}

// ID returns the session's id, which is the name of its directory.
func (s *Session) ID() string { return s.id }

// Dir returns the session directory as an absolute path.
func (s *Session) Dir() string { return s.dir }

// Locks returns the locks of the session directory. They are closed by
// [Session.Release].
func (s *Session) Locks() *lock.Dir { return s.locks }

// Timeline returns the session's log, always the same one. It is closed by
// [Session.Release]. After a failed data sync it refuses to write, as
// [segment.ErrFaulted] says: open the session again to write to its log. Reading
// goes on, and so do the methods of s.
func (s *Session) Timeline() *timeline.Log { return s.log }

// Buffered reports that the store was opened Buffered: nothing is synced.
func (s *Session) Buffered() bool { return !s.store.durable() }

// Release gives back the open files; the session stays as it is. It is called
// when nobody uses s, its log or its locks any more.
func (s *Session) Release() error {
	return errors.Join(s.pen.release(), s.log.Close(), s.locks.Close())
}

// underRecord runs f under the record lock, with the record as it is then, after
// making record and log agree.
func (s *Session) underRecord(ctx context.Context, f func(held *lock.Record, r Record) error) error {
	held, err := s.locks.Record(ctx)
	if err != nil {
		return fmt.Errorf("session %s: %w", s.id, err)
	}
	r, err := s.Record()
	if err == nil {
		r, err = s.heal(ctx, held, r)
	}
	if err == nil {
		err = f(held, r)
	}
	return errors.Join(err, held.Release())
}

// change replaces the record by what f makes of it, and writes nothing if f
// changes nothing that is stored.
func (s *Session) change(ctx context.Context, f func(r *Record) error) error {
	stands := false
	err := s.underRecord(ctx, func(held *lock.Record, r Record) error {
		next := r.clone()
		err := f(&next)
		if err == nil {
			stands, err = s.replaceMoved(held, r, next)
		}
		return err
	})
	return doubted(stands, err)
}

// Archive marks the session as history. Nothing is removed and no event is
// appended: every segment stays, and the session still receives, delivers and
// declares, as it may be needed again. Archiving twice changes nothing.
//
// A nil error means that the record is on stable storage (with Buffered: written).
// The error is that of [Session.Record], of the record lock, of [Session.Heal] or of
// the disk. The record is then as it was, unless the error is [segment.ErrFaulted]: then
// it may be the new one, which a power cut may undo, and to do the same again makes
// sure of it. If the process dies inside, the record is the old or the new one.
func (s *Session) Archive(ctx context.Context) error {
	return s.change(ctx, func(r *Record) error { r.Archived = true; return nil })
}

// Retire marks the session as one that cannot work any more, because its work
// tree is gone. That closes only its lifecycle: declarations and launches are
// [ErrRetired] from then on. It still receives. Errors and crashes are as for
// [Session.Archive].
func (s *Session) Retire(ctx context.Context) error {
	return s.change(ctx, func(r *Record) error { r.Retired = true; return nil })
}

// Update changes title, parent, adapter and settings: f gets the present record
// and sets what it wants, all under one hold of the record lock. A change of
// anything else, or to a value that [Store.Create] would refuse, is [ErrField];
// an error of f is returned as it is. Nothing is written then. f must not use the
// session. Other errors and crashes are as for [Session.Archive].
func (s *Session) Update(ctx context.Context, f func(r *Record) error) error {
	return s.change(ctx, func(r *Record) error {
		before := r.clone()
		if err := f(r); err != nil {
			return err
		}
		allowed := before
		allowed.Title, allowed.Parent, allowed.Adapter, allowed.Settings = r.Title, r.Parent, r.Adapter, r.Settings
		if string(allowed.object().encode()) != string(r.object().encode()) {
			return fmt.Errorf("session %s: %w: update only title, parent, adapter and settings", s.id, ErrField)
		}
		return r.check()
	})
}
