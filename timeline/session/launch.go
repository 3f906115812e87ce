package session

import (
	"context"
	"fmt"
)

// BeginLaunch notes that a runtime of the session is being started, with the state
// that the session will have if that works. Readers are shown what was declared
// before until the launch ends: [Session.FinishLaunch], [Session.FailLaunch], or
// a declaration of the agent. No event is appended. To begin again while a launch
// is pending only replaces the state.
//
// Errors are those of [Session.Declare], and leave the record as it was. If the
// process dies inside, the launch is pending or not; whoever supervises it calls
// FailLaunch for one that nobody runs any more.
func (s *Session) BeginLaunch(ctx context.Context, d Declaration) error {
	if err := d.check(s.store.options.Timeline.MaxTextBytes); err != nil {
		return fmt.Errorf("session %s: %w", s.id, err)
	}
	return s.change(ctx, func(r *Record) error {
		if r.Retired {
			return fmt.Errorf("session %s: %w: it cannot be launched", s.id, ErrRetired)
		}
		if !r.Launching {
			before := r.own()
			r.Launching, r.frozen = true, &before
		}
		r.Status, r.Proposal, r.Note = d.Status, d.Proposal, d.Note
		return nil
	})
}

// FinishLaunch ends a pending launch that worked: the state of
// [Session.BeginLaunch] becomes what the session shows, and one event is appended
// if that differs from what was declared before. Without a pending launch, which
// a declaration of the agent may have ended already, it does nothing. Errors and
// crashes are as for [Session.Declare].
func (s *Session) FinishLaunch(ctx context.Context) (Declared, error) {
	return s.author(ctx, func(r Record, before Declaration) (Declaration, bool) {
		if r.Status == "" { // another program's launch that names no state
			return before, r.Launching
		}
		return r.own(), r.Launching
	})
}

// FailLaunch ends a pending launch that did not work: the record shows again what
// was declared before, and no event is appended. Without a pending launch it does
// nothing. Errors and crashes are as for [Session.Archive]. A retired session's
// launch can be ended too.
func (s *Session) FailLaunch(ctx context.Context) error {
	return s.change(ctx, func(r *Record) error {
		if !r.Launching {
			return nil
		}
		before, err := s.authored(ctx, *r)
		if err != nil {
			return err
		}
		*r = r.declaring(before)
		return nil
	})
}
