package dispatch_test

import (
	"context"
	"errors"
	"slices"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/timeline/session"
)

// audit looks at one session while everybody is at work. What is to be found in the
// log is read before the log is.
func (s *soak) audit(ctx context.Context) {
	id := soakStaying[s.roll(len(soakStaying))]
	promised, followed := s.known(id)
	got := s.inbox(id)
	owed, err := s.d.Pending(ctx, id)
	if err != nil && ctx.Err() == nil {
		s.t.Errorf("session %s: pending: %v", id, err)
	}
	sent, declared, err := s.log(ctx, id)
	if err != nil {
		if ctx.Err() == nil {
			s.t.Errorf("session %s: %v", id, err)
		}
		return
	}
	s.checkLog(id, sent, declared, promised)
	if len(followed) > len(sent) || !slices.Equal(followed, sent[:len(followed)]) {
		s.t.Errorf("session %s: the follower saw %v of %v", id, followed, sent)
	}
	if !inSequence(got, sent) {
		s.t.Errorf("session %s: the agent has %v of %v: want each once, in order, and recorded", id, got, sent)
	}
	var mids []string
	for _, e := range owed {
		mids = append(mids, e.MID)
	}
	if !inSequence(mids, sent) {
		s.t.Errorf("session %s: owed are %v of %v: want each once, in order, and recorded", id, mids, sent)
	}
	if wrong, err := s.d.Disagreements(ctx, id); (err != nil || len(wrong) > 0) && ctx.Err() == nil {
		s.t.Errorf("session %s: got %v, %v, want no disagreement while everybody is at work", id, wrong, err)
	}
	if len(promised) > 0 {
		mid := promised[s.roll(len(promised))]
		if _, err := s.d.State(ctx, id, mid); err != nil && ctx.Err() == nil {
			s.t.Errorf("session %s: message %s was accepted and has no state: %v", id, mid, err)
		}
	}
}

// promise notes that a send of this message returned.
func (s *soak) promise(id, mid string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.promised[id] = append(s.promised[id], mid)
}

// known returns what was promised until now, and what the follower saw.
func (s *soak) known(id string) (promised, followed []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.promised[id]), slices.Clone(s.followed[id])
}

// checkLog: what was promised is recorded, once, and no declaration stands twice.
func (s *soak) checkLog(id string, sent, declared, promised []string) {
	sorted := slices.Sorted(slices.Values(sent))
	if n := len(slices.Compact(slices.Clone(sorted))); n != len(sent) {
		s.t.Errorf("session %s: %d messages are recorded twice: %v", id, len(sent)-n, sent)
	}
	for _, mid := range promised {
		if _, found := slices.BinarySearch(sorted, mid); !found {
			s.t.Errorf("session %s: message %s was accepted and is lost", id, mid)
		}
	}
	if n := len(slices.Compact(slices.Clone(declared))); n != len(declared) {
		s.t.Errorf("session %s: a declaration that did not move is recorded: %v", id, declared)
	}
}

// finish lets everything be delivered and holds all books against each other.
func (s *soak) finish() {
	ctx := s.t.Context()
	for _, id := range soakStaying {
		// An ordinary send completes what a dead process left half done.
		last, err := s.d.SendText(ctx, id, dispatch.Message{Text: "the last one"})
		must(s.t, err)
		s.promise(id, last.MID)
		s.deliver(id)
		wrong, err := s.d.Disagreements(ctx, id)
		if err != nil || len(wrong) > 0 {
			s.t.Errorf("session %s: got %v, %v, want no disagreement", id, wrong, err)
		}
		s.verify(id)
		sent, declared, err := s.log(ctx, id)
		if err != nil {
			s.t.Errorf("session %s: %v", id, err)
			continue
		}
		promised, _ := s.known(id)
		s.checkLog(id, sent, declared, promised)
		got := s.inbox(id)
		if !inSequence(got, sent) {
			s.t.Errorf("session %s: the agent has %v of %v", id, got, sent)
		}
		s.checkEnds(id, sent, got)
		eventually(s.t, "the follower has seen everything", func() bool {
			_, followed := s.known(id)
			return s.t.Failed() || slices.Equal(followed, sent)
		})
	}
}

// checkEnds: everything is at an end, and what is delivered is there. One that was
// revoked in place of a confirmation may be there too.
func (s *soak) checkEnds(id string, sent, got []string) {
	sorted := slices.Sorted(slices.Values(got))
	for _, mid := range sent {
		_, has := slices.BinarySearch(sorted, mid)
		if has && s.roll(len(sent)) > 200 {
			continue // each look reads back to the message
		}
		state, err := s.d.State(s.t.Context(), id, mid)
		if err != nil || state.Condition != dispatch.Revoked && (state.Condition != dispatch.Delivered || !has) {
			s.t.Errorf("session %s: message %s is %q, %v, and the agent has it: %v", id, mid, state.Condition, err, has)
		}
	}
}

// deliver makes passes until nothing is owed: the agent is moody.
func (s *soak) deliver(id string) {
	for range 100_000 {
		_, err := s.d.Drain(s.t.Context(), id, dispatch.DrainOptions{})
		if err == nil {
			return
		}
		if !errors.Is(err, adapter.ErrBusy) && !errors.Is(err, adapter.ErrUnconfirmed) {
			s.t.Fatalf("session %s: %v", id, err)
		}
	}
	s.t.Fatalf("session %s: passes come to no end", id)
}

func (s *soak) verify(id string) {
	of, err := s.store.Open(id)
	if err != nil {
		s.t.Error(err)
		return
	}
	defer of.Release()
	faults, err := of.Timeline().Verify(s.t.Context())
	if err != nil || slices.ContainsFunc(faults, damaging) {
		s.t.Errorf("session %s: got %v, %v, want no damage", id, faults, err)
	}
	rec, err := of.Record()
	last, found, lastErr := of.Timeline().LastStatus(s.t.Context())
	if shown := rec.Authored(); err != nil || lastErr != nil || found && shown != (session.Declaration{Status: last.Status, Proposal: last.Proposal, Note: last.Note}) {
		s.t.Errorf("session %s: %v, %v: the record says %+v, the log %+v", id, err, lastErr, shown, last)
	}
}
