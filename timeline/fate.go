package timeline

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/docket-go/docket/timeline/segment"
)

// A Fate is what the log proves about one message.
type Fate struct {
	Sent Sent
	Seq  uint64
	Ours bool // docket wrote the line with a debt: neither settled nor revoked means owed

	Settled       bool // the adapter took the message
	SettledAt     time.Time
	Revoked       bool // a decision took it out of the queue
	RevokedAt     time.Time
	RevokedReason string
}

// Fate returns what the log proves about the message mid, and false if the log
// has no such message. It reads from the end back to the message, or to the
// header that names it as owed. The error is [ErrCorrupt] if a header names the
// message and its line is not there any more, else [ErrClosed], ctx's or one of
// the system.
func (l *Log) Fate(ctx context.Context, mid string) (f Fate, ok bool, err error) {
	fates, err := l.Fates(ctx, mid)
	f, ok = fates[mid]
	return f, ok, err
}

// Fates is [Log.Fate] for many messages with one reading of the log, which ends
// as soon as all of them were found. Messages that the log does not have are not
// in the result. Memory grows with the messages asked for, not with the log. After
// an error the result is nil.
func (l *Log) Fates(ctx context.Context, mids ...string) (map[string]Fate, error) {
	found := make(map[string]Fate, len(mids))
	err := l.EachFate(ctx, mids, func(f Fate) { found[f.Sent.MID] = f })
	if err != nil {
		return nil, err
	}
	return found, nil
}

// EachFate is [Log.Fates] that calls found for one message after the other, so that memory
// grows with the ids of the messages asked for, not with their texts. Which come first
// depends on the log. After an error, what found was called with may not be so.
func (l *Log) EachFate(ctx context.Context, mids []string, found func(Fate)) error {
	s := fateSearch{log: l, left: make(map[string]*sought, len(mids)), found: found}
	for _, mid := range mids {
		if mid != "" {
			s.left[mid] = &sought{quoted: appendString(nil, mid)}
		}
	}
	if len(s.left) == 0 {
		return nil
	}
	return s.run(ctx)
}

// fewMessages is up to how many messages looking for each in a line is faster than
// taking the line apart.
const fewMessages = 8

// A fateSearch is one reading of the log backward.
type fateSearch struct {
	log   *Log
	left  map[string]*sought // the messages whose line was not found yet
	found func(Fate)
	wrong error // why headers are not believed any more
}

// A sought is what the lines behind a message have said of it so far.
type sought struct {
	fate   Fate
	quoted []byte // its mid as docket writes it
	named  error  // a header named it, and this is what is wrong with its line
}

func (s *fateSearch) run(ctx context.Context) error {
	v, err := s.log.segments.View(ctx)
	if err != nil {
		return s.log.wrap(err)
	}
	for at, err := range v.Backward(ctx) {
		if err != nil {
			return s.log.wrap(err)
		}
		if at.Class == segment.Unreadable || !s.mayHold(at.Bytes) {
			continue
		}
		p, err := parse(at.Bytes)
		if err != nil {
			continue
		}
		if before, isHeader := p.summary(at); isHeader {
			if err := s.takeListed(ctx, &before); err != nil {
				return err
			}
		} else {
			s.take(at, &p)
		}
		if len(s.left) == 0 {
			return nil
		}
	}
	for _, m := range s.left {
		if m.named != nil {
			return m.named
		}
	}
	return nil
}

// mayHold returns false only if no string of the line is one of the mids: without
// escapes it would stand there as it is.
func (s *fateSearch) mayHold(raw []byte) bool {
	if len(s.left) > fewMessages {
		return true
	}
	for _, m := range s.left {
		if bytes.Contains(raw, m.quoted) {
			return true
		}
	}
	return bytes.IndexByte(raw, '\\') >= 0
}

// take notes what the line says of a message that is looked for. With the line of
// the message itself all is said: nothing before can be about it.
func (s *fateSearch) take(at segment.Line, p *line) {
	if p.kind == statusLine || p.kind == otherLine || p.mid.null(p.raw) {
		return
	}
	mid := p.string(p.mid)
	if m := s.left[mid]; m != nil && m.fate.take(at.Seq, p) {
		s.found(m.fate)
		delete(s.left, mid)
	}
}

// take notes what a line of the message says of it, and returns true for the line
// of the message itself.
func (f *Fate) take(seq uint64, p *line) (found bool) {
	switch p.kind {
	case settledLine:
		f.Settled, f.SettledAt = true, p.time()
	case revokedLine:
		f.Revoked, f.RevokedAt, f.RevokedReason = true, p.time(), p.string(p.reason)
	case sentLine:
		f.Sent, f.Seq = p.decodeSent(), seq
		f.Ours = !f.Sent.NoDebt
		return true
	}
	return false
}

// takeListed fetches the messages that a header names as owed before it. After a
// header that is wrong the lines themselves decide.
func (s *fateSearch) takeListed(ctx context.Context, before *facts) error {
	if s.wrong != nil {
		return nil
	}
	listed := slices.DeleteFunc(before.Owed, func(d debtFact) bool { return s.left[d.MID] == nil })
	slices.SortFunc(listed, func(a, b debtFact) int { return cmp.Compare(a.Seq, b.Seq) })
	pick := picker{log: s.log}
	defer pick.close()
	for _, d := range listed {
		m := s.left[d.MID]
		if m == nil {
			continue // named twice
		}
		err := pick.at(ctx, d.Seq, func(_ *segment.Line, p *line) error {
			if p.kind != sentLine || p.string(p.mid) != d.MID {
				return fmt.Errorf("it is not message %s", d.MID)
			}
			m.fate.take(d.Seq, p)
			return nil
		})
		if errors.Is(err, ErrCorrupt) {
			m.named, s.wrong = err, err
			continue
		}
		if err != nil {
			return err
		}
		s.found(m.fate)
		delete(s.left, d.MID)
	}
	return nil
}
