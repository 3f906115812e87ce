package timeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/docket-go/docket/timeline/segment"
)

// A Debt is a message that was written with a debt and is neither settled nor
// revoked.
type Debt struct {
	Sent Sent
	Seq  uint64
}

// Owed returns what the private lines prove is still owed, oldest first. It is
// for rebuilding a queue after a power cut or damage; what is owed otherwise is
// what the queue says. Lines of other writers are never owed by proof.
//
// It reads the newest segment and the messages that its header names; where more
// than 256 were owed at once, it reads back to the first that did not fit.
func (l *Log) Owed(ctx context.Context) ([]Debt, error) {
	s := search{settled: map[string]bool{}}
	if err := s.run(ctx, l, true); err != nil {
		return nil, err
	}
	err := s.fetch(ctx, l)
	if errors.Is(err, ErrCorrupt) { // a header is wrong: the lines themselves decide
		s = search{settled: map[string]bool{}}
		err = s.run(ctx, l, false)
	}
	if err != nil {
		return nil, err
	}
	slices.SortFunc(s.debts, func(a, b Debt) int { return cmp.Compare(a.Seq, b.Seq) })
	return s.debts, nil
}

// A search is one run of Owed, from the newest line backward.
type search struct {
	settled map[string]bool // mids that need no hand-over any more
	debts   []Debt
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
			s.debts = append(s.debts, Debt{Sent: p.decodeSent(), Seq: at.Seq})
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
		err := pick.at(ctx, d.Seq, func(_ *segment.Line, p *line) error {
			if p.kind != sentLine || p.string(p.mid) != d.MID {
				return fmt.Errorf("it is not message %s", d.MID)
			}
			s.debts = append(s.debts, Debt{Sent: p.decodeSent(), Seq: d.Seq})
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
