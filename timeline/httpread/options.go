package httpread

import (
	"context"
	"iter"
	"log/slog"
	"time"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

// What [Options] means where it does not say otherwise.
const (
	DefaultTimeout       = 30 * time.Second
	DefaultHeartbeat     = 15 * time.Second
	DefaultWriteWait     = 20 * time.Second
	DefaultMaxInputBytes = 1 << 20
	DefaultMaxStreams    = 256

	DefaultMaxConnections = 512
)

// MaxPage is how many events, sessions or owed messages one answer holds at most,
// and holds if the request names no limit.
const MaxPage = 500

// Options configures a [Handler]. Only Store is needed; what depends on a function
// that is nil is answered with 501, and the page does without it.
//
// An error of these functions is answered as the [*RefusalError] in it says, if
// there is one. The functions may be called at the same time.
type Options struct {
	// Store is what is shown.
	Store *session.Store

	// Send accepts a message of a human.
	Send func(ctx context.Context, m Message) (Accepted, error)

	// Debts yields what a session is owed, oldest first. An error ends it. It may be left
	// before its end.
	Debts func(ctx context.Context, id string) iter.Seq2[Owed, error]

	// Pending is Debts for who has all of them in a slice. It is asked where Debts is nil.
	Pending func(ctx context.Context, id string) ([]Owed, error)

	// Count returns how many messages a session is owed. Nil means that Debts are
	// counted.
	Count func(ctx context.Context, id string) (int, error)

	// Unconfirmed returns how many of those were handed over without anybody knowing
	// whether they arrived, so that somebody has to decide; what is being handed over
	// right now is none of them. It is asked only where something is owed. Nil means
	// that those of Debts are counted that are unconfirmed.
	Unconfirmed func(ctx context.Context, id string) (int, error)

	// States returns the states of the messages that it knows of those with the mids,
	// of which there are at most [MaxPage].
	States func(ctx context.Context, id string, mids []string) (map[string]State, error)

	// Token is what every request for data must bear, also one from this machine; see
	// [ReadToken]. Empty means that no token is asked for, and that only requests from
	// this machine are served.
	Token string

	// Hosts are the names by which the server may be asked for, without port, beside
	// those of loopback and the address that a connection came to. A name that is not
	// known is refused, so that no name that somebody else points at this machine makes
	// a browser talk to it.
	Hosts []string

	// Timeout bounds everything but streams. Zero or less means [DefaultTimeout].
	Timeout time.Duration

	// Heartbeat is how long a stream is silent at most. Zero or less means
	// [DefaultHeartbeat].
	Heartbeat time.Duration

	// WriteWait bounds each write to a stream; a client that does not take it in that
	// time is dropped. Zero or less means [DefaultWriteWait].
	WriteWait time.Duration

	// MaxInputBytes bounds the body of a send. Zero or less means
	// [DefaultMaxInputBytes].
	MaxInputBytes int64

	// MaxStreams bounds the streams that are open at once. Zero or less means
	// [DefaultMaxStreams].
	MaxStreams int

	// MaxConnections bounds the connections of [Handler.Listener]. Zero or less means
	// [DefaultMaxConnections].
	MaxConnections int

	// Poll is that of [timeline.FollowOptions] and of the follower of all sessions.
	Poll time.Duration

	// Logger is told of panics, of errors that are not the client's, and, at level
	// debug, of clients that were dropped. Nil means that nothing is logged.
	Logger *slog.Logger
}

func (o Options) filled() Options {
	if pending := o.Pending; pending != nil && o.Debts == nil {
		o.Debts = func(ctx context.Context, id string) iter.Seq2[Owed, error] {
			return func(yield func(Owed, error) bool) {
				all, err := pending(ctx, id)
				if err != nil {
					yield(Owed{}, err)
					return
				}
				for _, owed := range all {
					if !yield(owed, nil) {
						return
					}
				}
			}
		}
	}
	o.Timeout = orDefault(o.Timeout, DefaultTimeout)
	o.Heartbeat = orDefault(o.Heartbeat, DefaultHeartbeat)
	o.WriteWait = orDefault(o.WriteWait, DefaultWriteWait)
	o.MaxInputBytes = orDefault(o.MaxInputBytes, DefaultMaxInputBytes)
	o.MaxStreams = orDefault(o.MaxStreams, DefaultMaxStreams)
	o.MaxConnections = orDefault(o.MaxConnections, DefaultMaxConnections)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

func orDefault[N int | int64 | time.Duration](n, otherwise N) N {
	if n <= 0 {
		return otherwise
	}
	return n
}

// A Message is what [Options.Send] is to accept from a human.
type Message struct {
	Session   string
	Text      string
	ReplyVia  timeline.Channel // empty means that the receiver decides
	Operation string           // [InputOperation] if there is a key, else empty
	Key       string           // the Idempotency-Key; empty means that the send is not repeatable
}

// InputOperation is the operation of a send with an Idempotency-Key, so that it
// shares no key with those of other surfaces.
const InputOperation = "http-input"

// Accepted is what became of a message that was accepted.
type Accepted struct {
	MID       string
	Replayed  bool // the key came before with this content; nothing was written
	Delivered bool // the agent has it already
	Cursor    timeline.Cursor
}

// An Owed is one message that is not delivered yet.
type Owed struct {
	MID         string
	From        string // empty means a human
	Text        string
	State       string // owed or unconfirmed
	EnqueuedAt  time.Time
	Attempts    int
	LastAttempt time.Time
	LastError   string
	Handing     bool // it is owed, and being handed over right now
}

// A State says where a message is.
type State struct {
	State     string // owed, unconfirmed, delivered or revoked
	EndedAt   time.Time
	Reason    string // why it was revoked
	Attempts  int
	LastError string
	Handing   bool // it is owed, and being handed over right now
}
