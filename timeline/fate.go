package timeline

import (
	"bytes"
	"context"
	"fmt"
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
// header that names it as owed.
func (l *Log) Fate(ctx context.Context, mid string) (f Fate, ok bool, err error) {
	if mid == "" {
		return Fate{}, false, nil
	}
	v, err := l.segments.View(ctx)
	if err != nil {
		return Fate{}, false, l.wrap(err)
	}
	quoted := appendString(nil, mid)
	for at, err := range v.Backward(ctx) {
		if err != nil {
			return Fate{}, false, l.wrap(err)
		}
		if at.Class == segment.Unreadable || !mayHold(at.Bytes, quoted) {
			continue
		}
		p, err := parse(at.Bytes)
		if err != nil {
			continue
		}
		if before, isHeader := p.summary(at); isHeader {
			if seq, listed := before.lists(mid); listed {
				return l.fateAt(ctx, f, mid, seq)
			}
			continue
		}
		if f.take(at, &p, mid) {
			return f, true, nil
		}
	}
	return Fate{}, false, nil
}

// mayHold returns false only if no string of the line is the quoted one: without
// escapes it would stand there as it is.
func mayHold(raw, quoted []byte) bool {
	return bytes.Contains(raw, quoted) || bytes.IndexByte(raw, '\\') >= 0
}

// take notes what the line says of the message, and returns true once it is the
// line of the message itself, before which nothing can be said of it.
func (f *Fate) take(at segment.Line, p *line, mid string) (found bool) {
	if p.string(p.mid) != mid {
		return false
	}
	switch p.kind {
	case settledLine:
		f.Settled, f.SettledAt = true, p.time()
	case revokedLine:
		f.Revoked, f.RevokedAt, f.RevokedReason = true, p.time(), p.string(p.reason)
	case sentLine:
		f.Sent, f.Seq = p.decodeSent(), at.Seq
		f.Ours = !f.Sent.NoDebt
		return true
	}
	return false
}

// fateAt completes f with the line that a header lists.
func (l *Log) fateAt(ctx context.Context, f Fate, mid string, seq uint64) (Fate, bool, error) {
	pick := picker{log: l}
	defer pick.close()
	err := pick.at(ctx, seq, func(p *line) error {
		if !f.take(segment.Line{Seq: seq}, p, mid) {
			return fmt.Errorf("it is not message %s", mid)
		}
		return nil
	})
	return f, err == nil, err
}

// Found is what the log proves about a keyed request.
type Found struct {
	Sent    Sent
	Seq     uint64
	Settled bool
	Revoked bool
}

// Receipt returns the message that was accepted for the request, and false if none
// was. It opens only segments that may hold it.
func (l *Log) Receipt(ctx context.Context, operation, requestDigest string) (f Found, ok bool, err error) {
	settled, revoked := map[string]bool{}, map[string]bool{}
	for at, err := range l.segments.FindKey(ctx, requestKey(operation, requestDigest)) {
		if err != nil {
			return Found{}, false, l.wrap(err)
		}
		p, err := parse(at.Bytes)
		if err != nil {
			continue
		}
		switch mid := p.string(p.mid); p.kind {
		case settledLine:
			settled[mid] = true
		case revokedLine:
			revoked[mid] = true
		case sentLine:
			f = Found{Sent: p.decodeSent(), Seq: at.Seq, Settled: settled[mid], Revoked: revoked[mid]}
			ok = true
		}
		if ok {
			break
		}
	}
	if !ok || f.Settled || f.Revoked {
		return f, ok, nil
	}
	return l.completed(ctx, f)
}

// completed adds what lines without the key say of the message.
func (l *Log) completed(ctx context.Context, f Found) (Found, bool, error) {
	fate, ok, err := l.Fate(ctx, f.Sent.MID)
	if err != nil {
		return Found{}, false, err
	}
	if ok && fate.Seq == f.Seq {
		f.Settled, f.Revoked = fate.Settled, fate.Revoked
	}
	return f, true, nil
}
