package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/lock/step"
	"github.com/docket-go/docket/timeline"
)

// Heal makes the log hold what the record declares: if a process died, or the
// power went, after the record was replaced and before its event was on the disk,
// Heal appends that event, with its own time. After an interrupted change it first
// makes the names of record and session durable, so that nothing is built on what a
// power cut may still undo. Whoever appends to the log of a
// session by other means than this package calls it first, under the same lock,
// so that the events keep their order. It reads the record; the log it reads only
// if the event is missing or the lock is [lock.Record.Interrupted]. What it
// appends is on stable storage when it returns nil.
//
// The error is [lock.ErrNotHeld], or that of [Session.Record], of the disk or of the
// log. Nothing is lost by it, nor if the process dies inside: the next call completes
// it. With [segment.ErrFaulted] the event is appended, and in doubt as
// [Session.Declare] says. It does not call [lock.Record.Recovered], because the queue
// is not its own.
func (s *Session) Heal(ctx context.Context, held *lock.Record) error {
	_, err := s.Healed(ctx, held)
	return err
}

// Healed is [Session.Heal] that returns the record as it is then. It is not to be used
// beside an error.
func (s *Session) Healed(ctx context.Context, held *lock.Record) (Record, error) {
	if err := held.Covers(s.dir); err != nil {
		return Record{}, fmt.Errorf("session %s: %w", s.id, err)
	}
	r, err := s.Record()
	if err != nil {
		return Record{}, err
	}
	return s.heal(ctx, held, r)
}

// heal returns the record as it is then.
func (s *Session) heal(ctx context.Context, held *lock.Record, r Record) (Record, error) {
	unsure := held.Interrupted() && s.agreed != held.Generation()+1
	if unsure && s.store.durable() {
		// Whoever was interrupted may have left these names to a power cut.
		if err := s.store.disk.syncDirs(s.dir, s.store.SessionsDir()); err != nil {
			return r, fmt.Errorf("session %s: after an interrupted change: %w", s.id, err)
		}
	}
	if r.declared == nil || r.Launching && r.frozen == nil {
		return r, nil // what readers are to be shown does not stand in the record
	}
	next, err := s.pen.nextSeq(held)
	if err != nil {
		return r, err
	}
	missing := r.declared.Seq >= next
	if !missing && !unsure {
		return r, nil
	}
	last, err := s.lastStatus(ctx)
	if err != nil {
		return r, err
	}
	now := place{Seq: last.Seq, Time: last.Time.Format(layoutTime)}
	if declarationOf(last) != r.Authored() {
		now.Time = r.declared.Time
		if now.Seq, err = s.appendMissing(held, r); err != nil {
			return r, err
		}
	}
	if r, err = s.notePlace(held, r, now); err != nil {
		return r, err
	}
	s.agreed = held.Generation() + 1
	return r, nil
}

// authored is what the agent declared last. If the record does not have it, as
// another program's launch is pending, the log does.
func (s *Session) authored(ctx context.Context, r Record) (Declaration, error) {
	if !r.Launching || r.frozen != nil {
		return r.Authored(), nil
	}
	last, err := s.lastStatus(ctx)
	return declarationOf(last), err
}

// lastStatus returns the last status event that can be read. What is damaged in
// the log counts as missing from it, so that damage never stops a declaration.
func (s *Session) lastStatus(ctx context.Context) (timeline.Event, error) {
	last, _, err := s.log.LastStatus(ctx)
	if err != nil && !errors.Is(err, timeline.ErrCorrupt) {
		return timeline.Event{}, fmt.Errorf("session %s: %w", s.id, err)
	}
	return last, nil
}

// appendMissing appends the event of the declaration that the record shows, and
// returns its sequence.
func (s *Session) appendMissing(held *lock.Record, r Record) (seq uint64, err error) {
	if err := held.Begin(); err != nil {
		return 0, err
	}
	step.At("session: repair begun")
	event, err := s.appendDeclared(held, r.Authored(), r.declared.time())
	if err != nil {
		return 0, err
	}
	if err := event.commit(); err != nil {
		return 0, err
	}
	step.At("session: missing event appended")
	return event.FirstSeq, nil
}

// notePlace corrects where the record says that the event of its declaration
// stands: a log that lost its end in a power cut has it earlier, and one to which
// a message was appended first has it later.
func (s *Session) notePlace(held *lock.Record, r Record, now place) (Record, error) {
	if now.Seq == r.declared.Seq {
		return r, nil
	}
	next := r
	next.declared = &now
	if _, err := s.replaceMoved(held, r, next); err != nil {
		return r, err
	}
	return next, nil
}

func declarationOf(e timeline.Event) Declaration {
	return Declaration{Status: e.Status, Proposal: e.Proposal, Note: e.Note}
}
