package session

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/lock/step"
	"github.com/docket-go/docket/timeline"
)

// The status words that docket itself uses. Others are allowed.
const (
	StatusActive   = "active"   // it works
	StatusIdle     = "idle"     // it has nothing to do
	StatusAwaiting = "awaiting" // it waits for an answer to its proposal
	StatusAsking   = "asking"   // it waits for an answer to its note
	StatusParked   = "parked"   // it waits for something outside
	StatusError    = "error"    // it cannot go on
)

// The words that docket itself uses for what an awaiting agent proposes. Others
// are allowed.
const (
	ProposalMerge   = "merge"   // take its work over
	ProposalNothing = "nothing" // it is done, there is nothing to take over
	ProposalClose   = "close"   // close the session
)

// A Declaration is what an agent says about itself.
type Declaration struct {
	Status   string // one word: a lower-case letter, then at most 63 of a-z, 0-9, "_", "-"
	Proposal string // a word like it, only with StatusAwaiting; empty means none
	Note     string // the whole note, valid UTF-8 without NUL; empty means none
}

// Declared is the answer to a [Declaration].
type Declared struct {
	Moved                  bool // an event was appended
	Status, Proposal, Note string

	// Next is the place in the timeline after the event that was appended. It is
	// the zero cursor if none was.
	Next timeline.Cursor
}

// isWord reports whether s is a lower-case letter and at most 63 of a-z, 0-9, "_" and
// "-" behind it.
func isWord(s string) bool {
	return s != "" && len(s) <= 64 && 'a' <= s[0] && s[0] <= 'z' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}

func (d Declaration) check(maxText int) error {
	switch {
	case !isWord(d.Status):
		return fmt.Errorf("%w: status %.70q: use one lower-case word", ErrDeclaration, d.Status)
	case d.Proposal != "" && d.Status != StatusAwaiting:
		return fmt.Errorf("%w: proposal %.70q with status %s: a proposal goes with %s only", ErrDeclaration, d.Proposal, d.Status, StatusAwaiting)
	case d.Proposal != "" && !isWord(d.Proposal):
		return fmt.Errorf("%w: proposal %.70q: use one lower-case word", ErrDeclaration, d.Proposal)
	case !goodText(d.Note):
		return fmt.Errorf("note: %w", timeline.ErrText)
	}
	if maxText == 0 {
		maxText = timeline.DefaultMaxTextBytes
	}
	if maxText > 0 && len(d.Note) > maxText {
		return &timeline.TooLargeError{Field: "note", Bytes: len(d.Note), Limit: maxText}
	}
	return nil
}

func goodText(s string) bool { return utf8.ValidString(s) && !strings.Contains(s, "\x00") }

// Declare records what the agent declares. It compares it with what the agent
// declared before: if nothing moved, nothing at all is written. Otherwise the
// record is replaced and then the event appended, in one hold of the record lock.
// While a launch is pending, what was declared before it is what counts, and the
// declaration ends the launch: the agent has spoken.
//
// A nil error means that record and event are on stable storage (with Buffered:
// written). If nothing moved it means that of the record alone, by which the next
// change of the session appends the event again, should a power cut take it.
//
// An error that is [ErrInDoubt] means that the declaration stands: readers see it, and
// a power cut may undo it. If it is [segment.ErrFaulted] too, a data sync failed, and
// the answer tells of the event if there is one. To declare the same again makes sure
// of the record. Nothing can make sure of an event whose sync failed; a power cut
// that takes it while the record shows its declaration costs nothing, as above, and a
// later one leaves damage that [timeline.Log.Verify] names. The session can be used
// on: its next declaration goes through a log that is opened anew.
//
// After any other error the declaration was not made. If the process dies inside, it
// may stand in the record; the next change of the session appends its event then. Any
// number of goroutines and processes may declare at once.
func (s *Session) Declare(ctx context.Context, d Declaration) (Declared, error) {
	if err := d.check(s.store.options.Timeline.MaxTextBytes); err != nil {
		return Declared{}, fmt.Errorf("session %s: %w", s.id, err)
	}
	return s.author(ctx, func(r Record, _ Declaration) (Declaration, bool) { return d, true })
}

// author replaces the record's declaration by what next makes of the record and
// what was declared before, ends a pending launch, and appends the event if the
// declaration moved. If next returns false nothing happens.
func (s *Session) author(ctx context.Context, next func(r Record, before Declaration) (Declaration, bool)) (Declared, error) {
	var answer Declared
	var event written
	stands := false
	err := s.underRecord(ctx, func(held *lock.Record, r Record) error {
		before, err := s.authored(ctx, r)
		if err != nil {
			return err
		}
		d, ok := next(r, before)
		if !ok {
			d = before
		}
		answer = Declared{Status: d.Status, Proposal: d.Proposal, Note: d.Note}
		switch {
		case !ok:
			return nil
		case r.Retired:
			return fmt.Errorf("session %s: %w: it can still receive messages", s.id, ErrRetired)
		case d == before:
			stands, err = s.replaceMoved(held, r, r.declaring(d))
			return err
		}
		event, stands, err = s.move(held, r, d)
		answer.Moved, answer.Next = err == nil, event.Next
		return err
	})
	if err != nil {
		return Declared{}, doubted(stands, err)
	}
	if !answer.Moved {
		return answer, nil
	}
	return answer, doubted(true, event.commit())
}

// declaring returns r with d declared and no launch pending.
func (r Record) declaring(d Declaration) Record {
	r.Status, r.Proposal, r.Note = d.Status, d.Proposal, d.Note
	r.Launching, r.frozen = false, nil
	return r
}

// move replaces the record and appends the event. If the process dies between the
// two, the place in the record tells the next holder of the lock what is missing. It
// reports whether the record shows the declaration.
func (s *Session) move(held *lock.Record, r Record, d Declaration) (event written, stands bool, err error) {
	seq, err := s.pen.nextSeq(held)
	if err != nil {
		return event, false, err
	}
	now := s.store.now()
	next := r.declaring(d)
	next.declared = &place{Seq: seq, Time: now.Format(layoutTime)}
	data, err := next.stored()
	if err != nil {
		return event, false, err
	}
	if stands, err = s.beginReplaced(held, data); err != nil {
		return event, stands, err
	}
	event, err = s.appendDeclared(held, d, now)
	return event, true, err
}

// appendDeclared appends the event of a declaration that the record shows, and
// ends the change that the caller began.
func (s *Session) appendDeclared(held *lock.Record, d Declaration, at time.Time) (written, error) {
	event, err := s.pen.write(held, timeline.Status{Time: at, Status: d.Status, Proposal: d.Proposal, Note: d.Note})
	if err != nil {
		return event, fmt.Errorf("%w: the declaration is recorded, and its event follows at the next change", err)
	}
	step.At("session: declaration appended")
	if err := held.Done(); err != nil {
		return event, err
	}
	s.agreed = held.Generation() + 1
	return event, nil
}
