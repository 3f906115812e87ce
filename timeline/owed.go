package timeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/docket-go/docket/timeline/segment"
)

// A Debt is a message that was written with a debt and is neither settled nor
// revoked.
type Debt struct {
	Sent Sent
	Seq  uint64
}

// Owed returns what [Log.Debts] yields.
func (l *Log) Owed(ctx context.Context) (debts []Debt, err error) {
	for d, err := range l.Debts(ctx) {
		if err != nil {
			return nil, err
		}
		debts = append(debts, d)
	}
	return debts, nil
}

// Debts yields what the private lines prove is still owed, oldest first. It is
// for rebuilding a queue after a power cut or damage; what is owed otherwise is
// what the queue says. Lines of other writers are never owed by proof. Memory grows with
// the ids of what is owed, not with the texts. An error ends the iteration.
//
// It reads the newest segment and the messages that its header names; where more
// than 256 were owed at once, it reads back to the first that did not fit, and then
// what it found once more, for the texts.
func (l *Log) Debts(ctx context.Context) iter.Seq2[Debt, error] {
	return func(yield func(Debt, error) bool) {
		found, err := l.owed(ctx)
		if err != nil {
			yield(Debt{}, err)
			return
		}
		pick := picker{log: l}
		defer pick.close()
		for _, f := range found {
			d, err := pick.debt(ctx, f)
			if !yield(d, err) || err != nil {
				return
			}
		}
	}
}

// Messages yields the messages with these sequences, which have to grow, one at a time.
// An error ends the iteration: it is [ErrCorrupt] if there is no message there.
func (l *Log) Messages(ctx context.Context, seqs iter.Seq[uint64]) iter.Seq2[Debt, error] {
	return func(yield func(Debt, error) bool) {
		pick := picker{log: l}
		defer pick.close()
		for seq := range seqs {
			d, err := pick.debt(ctx, debtFact{Seq: seq})
			if !yield(d, err) || err != nil {
				return
			}
		}
	}
}

// OwedMIDs returns the ids of what [Log.Debts] yields, and reads no more than it has to.
func (l *Log) OwedMIDs(ctx context.Context) ([]string, error) {
	found, err := l.owed(ctx)
	mids := make([]string, len(found))
	for i, f := range found {
		mids[i] = f.MID
	}
	return mids, err
}

// owed returns what is still owed, oldest first.
func (l *Log) owed(ctx context.Context) ([]debtFact, error) {
	s := search{settled: map[string]bool{}}
	if err := s.run(ctx, l, true); err != nil {
		return nil, err
	}
	err := s.fetch(ctx, l)
	if errors.Is(err, ErrCorrupt) { // a header is wrong: the lines themselves decide
		s = search{settled: map[string]bool{}}
		err = s.run(ctx, l, false)
	}
	slices.SortFunc(s.debts, func(a, b debtFact) int { return cmp.Compare(a.Seq, b.Seq) })
	return s.debts, err
}

// A search is one run of owed, from the newest line backward.
type search struct {
	settled map[string]bool // mids that need no hand-over any more
	debts   []debtFact
	listed  []debtFact // what the newest header names
}

func (s *search) run(ctx context.Context, l *Log, useFacts bool) error {
	v, err := l.segments.View(ctx)
	if err != nil {
		return l.wrap(err)
	}
	floor, known := uint64(0), false // all debts before floor are listed
	for at, err := range v.Backward(ctx) {
		if err != nil {
			return l.wrap(err)
		}
		if known && at.Class == segment.Public && at.Seq < floor {
			return nil
		}
		if at.Class == segment.Unreadable {
			continue
		}
		p, err := parse(at.Bytes)
		if err != nil {
			continue
		}
		s.take(at, &p)
		f, ok := p.summary(at)
		if !ok || known || !useFacts {
			continue
		}
		s.listed = f.Owed
		if f.More == nil {
			return nil
		}
		floor, known = f.More.Seq, true
	}
	return nil
}

func (s *search) take(at segment.Line, p *line) {
	mid := p.string(p.mid)
	switch p.kind {
	case settledLine, revokedLine:
		s.settled[mid] = true
	case sentLine:
		if !s.settled[mid] && p.ours() {
			s.debts = append(s.debts, debtFact{MID: mid, Seq: at.Seq})
		}
	}
}

// fetch adds the messages that the header names and nothing settled since.
func (s *search) fetch(ctx context.Context, l *Log) error {
	pick := picker{log: l}
	defer pick.close()
	for _, d := range s.listed {
		if s.settled[d.MID] {
			continue
		}
		if _, err := pick.debt(ctx, d); err != nil {
			return err
		}
		s.debts = append(s.debts, d)
	}
	return nil
}

// debt reads the message of a debt. Without an id it may be any.
func (p *picker) debt(ctx context.Context, d debtFact) (found Debt, err error) {
	err = p.at(ctx, d.Seq, func(_ *segment.Line, l *line) error {
		if l.kind != sentLine || d.MID != "" && l.string(l.mid) != d.MID {
			return fmt.Errorf("it is not the message %s", d.MID)
		}
		found = Debt{Sent: l.decodeSent(), Seq: d.Seq}
		return nil
	})
	return found, err
}
