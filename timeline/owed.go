package timeline

import "context"

// A Debt is a message that was written with a debt and is neither settled nor
// revoked.
type Debt struct {
	Sent Sent
	Seq  uint64
}

// Owed returns what the private lines prove is still owed, oldest first. It is
// for rebuilding a queue after a power cut or damage; what is owed otherwise is
// what the queue says. It reads the newest segment, and the messages that its
// header names as owed.
func (l *Log) Owed(ctx context.Context) ([]Debt, error) { return nil, errSkeleton }
