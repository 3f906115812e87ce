package timeline

import (
	"context"
	"time"
)

// A Fate is what the log proves about one message.
type Fate struct {
	Sent Sent
	Seq  uint64
	Ours bool // docket wrote the line with a debt: not settled and not revoked means owed

	Settled       time.Time // when it was taken; zero means that no line says so
	Revoked       time.Time // when it was revoked; zero means that no line says so
	RevokedReason string
}

// Found is what the log proves about a keyed request.
type Found struct {
	Sent    Sent
	Seq     uint64
	Settled bool
	Revoked bool
}

// Receipt returns the message that was accepted for the request, if one was. It
// opens only segments that may hold it.
func (l *Log) Receipt(ctx context.Context, operation, requestDigest string) (f Found, ok bool, err error) {
	return Found{}, false, errSkeleton
}

// Fate returns what the log proves about the message mid, and false if the log
// has no such message. It reads from the end back to the message.
func (l *Log) Fate(ctx context.Context, mid string) (f Fate, ok bool, err error) {
	return Fate{}, false, errSkeleton
}
