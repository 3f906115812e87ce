package timeline

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"io"
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

// debtsAtOnce bounds how many debts are held against the rest of the log at once.
const debtsAtOnce = 16 << 10

// Debts yields what the private lines prove is still owed, oldest first. It is
// for rebuilding a queue after a power cut or damage; what is owed otherwise is
// what the queue says. Lines of other writers are never owed by proof. A message that
// was written twice is yielded once, as its last line has it. An error ends the
// iteration.
//
// It reads the newest segment and the messages that its header names; where more
// than 256 were owed at once, it begins at the first that did not fit. Memory does not
// grow with the log nor with what is owed: for each 16,384 messages that may be owed, the
// log behind them is read once.
func (l *Log) Debts(ctx context.Context) iter.Seq2[Debt, error] {
	return func(yield func(Debt, error) bool) {
		pick := picker{log: l}
		defer pick.close()
		s := debtSearch{log: l, owed: map[midSum]uint64{}}
		for more := true; more; more = s.more {
			found, err := s.read(ctx, &pick)
			if err != nil {
				yield(Debt{}, err)
				return
			}
			for _, f := range found {
				d, err := pick.debt(ctx, f.seq, &f.mid)
				if !yield(d, err) || err != nil {
					return
				}
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
			d, err := pick.debt(ctx, seq, nil)
			if !yield(d, err) || err != nil {
				return
			}
		}
	}
}

// A midSum stands for a mid, of whatever length: there are no two of one sum.
type midSum [16]byte

func sumOf(mid []byte) midSum {
	sum := sha256.Sum256(mid)
	return midSum(sum[:len(midSum{})])
}

// A foundDebt is where the message of a debt is.
type foundDebt struct {
	mid midSum
	seq uint64
}

// A debtSearch goes through the debts in the order of the log. Each of its readings goes
// forward: it takes as many messages as may be held at once, and up to the end of the log
// it strikes out those that are at an end. What became of the messages before and behind
// is no concern of it, so that it keeps nothing of them.
type debtSearch struct {
	log  *Log
	owed map[midSum]uint64 // sequences of the messages that are not struck out
	list []foundDebt       // those of one reading, in order

	begun bool
	more  bool   // not all fitted in
	next  uint64 // the sequence of the first that did not
}

// read returns the next debts.
func (s *debtSearch) read(ctx context.Context, pick *picker) ([]foundDebt, error) {
	if s.begun {
		err := s.strike(s.log.linesFrom(ctx, s.next))
		return s.found(), err
	}
	s.begun = true
	v, err := s.log.segments.View(ctx)
	if err != nil {
		return nil, s.log.wrap(err)
	}
	listed, lines, err := s.log.summed(ctx, v)
	if err != nil {
		return nil, s.log.wrap(err)
	}
	for _, d := range listed {
		s.owed[sumOf([]byte(d.MID))] = d.Seq
	}
	err = s.strike(lines)
	if err == nil {
		err = pick.areThere(ctx, listed, s.owed)
		if errors.Is(err, ErrCorrupt) { // a header is wrong: the lines themselves decide
			clear(s.owed)
			err = s.strike(v.Forward(ctx, 0))
		}
	}
	return s.found(), err
}

// summed returns the debts that the newest header lists, and the lines among which all
// others and the ends of both are found. Without a header those are all lines.
func (l *Log) summed(ctx context.Context, v *segment.View) (listed []debtFact, lines iter.Seq2[segment.Line, error], err error) {
	for n := v.Newest(); n > 0; n-- {
		f, ok, err := headerOf(ctx, v, n)
		switch {
		case err != nil:
			return nil, nil, err
		case !ok || f.More != nil && f.More.Seq > v.End():
			continue
		case f.More != nil:
			return f.Owed, l.linesFrom(ctx, f.More.Seq), nil
		}
		return f.Owed, v.Forward(ctx, n), nil
	}
	return nil, v.Forward(ctx, 0), nil
}

// headerOf returns what the header of a segment says about all lines before it, and false
// if it says nothing.
func headerOf(ctx context.Context, v *segment.View, n uint64) (f facts, ok bool, err error) {
	for at, err := range v.Forward(ctx, n) {
		if err != nil || !at.Header || at.Segment != n {
			return facts{}, false, err
		}
		p, err := parse(at.Bytes)
		if err != nil {
			break
		}
		f, ok = p.summary(at)
		break
	}
	return f, ok, nil
}

// linesFrom yields the lines from the public one with that sequence on.
func (l *Log) linesFrom(ctx context.Context, seq uint64) iter.Seq2[segment.Line, error] {
	return func(yield func(segment.Line, error) bool) {
		r, err := l.segments.Reader(ctx, seq)
		if err != nil {
			yield(segment.Line{}, err)
			return
		}
		defer r.Close()
		for {
			at, err := r.Next(ctx)
			if err == io.EOF || !yield(at, err) || err != nil {
				return
			}
		}
	}
}

// strike takes messages from the lines, as many as may be held, and strikes out those that
// the lines behind say to be at an end. It reads no further than it has to.
func (s *debtSearch) strike(lines iter.Seq2[segment.Line, error]) error {
	s.more = false
	for at, err := range lines {
		if err != nil {
			return s.log.wrap(err)
		}
		if at.Class != segment.Unreadable {
			s.take(&at)
		}
		if s.more && len(s.owed) == 0 {
			break
		}
	}
	return nil
}

// found returns what is not struck out, oldest first, and makes room for more. It is valid
// until the next reading.
func (s *debtSearch) found() []foundDebt {
	s.list = slices.Grow(s.list[:0], len(s.owed))
	for mid, seq := range s.owed {
		s.list = append(s.list, foundDebt{mid, seq})
	}
	clear(s.owed)
	slices.SortFunc(s.list, func(a, b foundDebt) int { return cmp.Compare(a.seq, b.seq) })
	return s.list
}

// take notes what a line says of the messages.
func (s *debtSearch) take(at *segment.Line) {
	var p line
	if !p.parseBare(at) {
		var err error
		if p, err = parse(at.Bytes); err != nil {
			return
		}
	}
	ends, owes := p.kind == settledLine || p.kind == revokedLine, p.kind == sentLine && p.ours()
	if !ends && !owes || p.mid.null(p.raw) {
		return
	}
	mid := sumOf(nameOf(p.raw, p.mid))
	delete(s.owed, mid) // one that is there twice counts where it is last
	switch {
	case ends || s.more:
	case len(s.owed) >= s.log.debtsAtOnce:
		s.more, s.next = true, at.Seq
	default:
		s.owed[mid] = at.Seq
	}
}

// areThere looks at the listed messages that are among those owed. The error is
// [ErrCorrupt] if one is not where it should be.
func (p *picker) areThere(ctx context.Context, listed []debtFact, owed map[midSum]uint64) error {
	for _, d := range listed {
		mid := sumOf([]byte(d.MID))
		if _, in := owed[mid]; !in {
			continue
		}
		if _, err := p.debt(ctx, d.Seq, &mid); err != nil {
			return err
		}
	}
	return nil
}

// debt reads the message with a sequence. Without a mid it may be any.
func (p *picker) debt(ctx context.Context, seq uint64, mid *midSum) (found Debt, err error) {
	err = p.at(ctx, seq, func(_ *segment.Line, l *line) error {
		if l.kind != sentLine || mid != nil && sumOf([]byte(l.string(l.mid))) != *mid {
			return errors.New("it is another message, or none")
		}
		found = Debt{Sent: l.decodeSent(), Seq: seq}
		return nil
	})
	return found, err
}
