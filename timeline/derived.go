package timeline

import (
	"context"
	"time"
)

// A Human is the last message that a human sent. It binds the session's current
// human turn.
type Human struct {
	MID  string
	Time time.Time
	Via  Channel // where the human reads the answer, never empty
	Seq  uint64
}

// LastHuman returns the last message that a human sent; messages of sessions are
// no human's. It reads the newest segment at most: older ones are summed up in
// its header.
func (l *Log) LastHuman(ctx context.Context) (h Human, ok bool, err error) {
	return Human{}, false, errSkeleton
}

// LastStatus returns the last declaration. It costs what [Log.LastHuman] does.
func (l *Log) LastStatus(ctx context.Context) (e Event, ok bool, err error) {
	return Event{}, false, errSkeleton
}
