package timeline

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/timeline/segment"
)

// Found is what the log proves about a keyed request.
type Found struct {
	Sent    Sent
	Seq     uint64
	Settled bool
	Revoked bool
}

// Receipt returns the message that was accepted for the request, and false if none
// was. It opens only segments that may hold it. The error is [ErrCorrupt] where a
// line that bears a part of the digest, or a whole range or segment that may hold it,
// cannot be read, and where only the end of the request can be: then nobody knows
// whether the request was accepted, or as which message.
func (l *Log) Receipt(ctx context.Context, operation, requestDigest string) (f Found, ok bool, err error) {
	key := requestKey(operation, requestDigest)
	if l.segments.Lacks(nil, key) {
		return Found{}, false, ctx.Err()
	}
	return l.receipt(ctx, key, operation, requestDigest)
}

// Lacks reports that Receipt would find nothing, for the holder of the record lock, who
// learns that with less than a Receipt costs. False says nothing: ask Receipt. Only a Log
// that has written, and was asked for a Receipt that was not there, can tell.
func (l *Log) Lacks(held *lock.Record, operation, requestDigest string) bool {
	return l.segments.Lacks(held, requestKey(operation, requestDigest))
}

// receipt is Receipt by a search.
func (l *Log) receipt(ctx context.Context, key []byte, operation, requestDigest string) (f Found, ok bool, err error) {
	var settled, revoked []string // mids
	var doubt *LineError
	for at, err := range l.segments.FindKey(ctx, key, textOf(requestDigest)) {
		if err != nil {
			return Found{}, false, l.wrap(err)
		}
		if at.Class == segment.Unreadable {
			if len(at.Bytes) == 0 || bearsPart(at.Bytes, requestDigest) {
				doubt = l.decode(&at, nil, &Event{})
			}
			continue
		}
		p, err := parse(at.Bytes)
		if err != nil {
			continue
		}
		switch mid := p.string(p.mid); p.kind {
		case settledLine:
			settled = append(settled, mid)
		case revokedLine:
			revoked = append(revoked, mid)
		case sentLine:
			f = Found{Sent: p.decodeSent(), Seq: at.Seq, Settled: slices.Contains(settled, mid), Revoked: slices.Contains(revoked, mid)}
			ok = true
		}
		if ok {
			break
		}
	}
	if !ok && doubt != nil {
		return Found{}, false, l.wrap(fmt.Errorf("whether request %s was accepted cannot be known: %w", operation, doubt))
	}
	if !ok && len(settled)+len(revoked) > 0 {
		return Found{}, false, l.wrap(fmt.Errorf("request %s is at an end, and its message is not there: %w", operation, ErrCorrupt))
	}
	if !ok || f.Settled || f.Revoked {
		return f, ok, nil
	}
	return l.completed(ctx, f)
}

// bearsPart reports whether a damaged line has so much of the digest that it is no
// chance.
func bearsPart(raw []byte, digest string) bool {
	const part = 12
	for i := 0; i+part <= len(digest); i++ {
		if bytes.Contains(raw, []byte(digest[i:i+part])) {
			return true
		}
	}
	return bytes.Contains(raw, []byte(digest))
}

// textOf returns bytes that stand in every line of this package that bears the digest.
// It is the part that is short enough for the fastest search.
func textOf(requestDigest string) []byte {
	const most = 32
	quoted := appendString(nil, requestDigest)
	return quoted[:min(len(quoted), most)]
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
