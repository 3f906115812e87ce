package host

import (
	"errors"
	"sync"

	"github.com/docket-go/docket/adapter"
)

var (
	// ErrRunning is returned by [Open] when another broker serves the session.
	ErrRunning = errors.New("host: another host serves this session: use it, or end it first")

	// ErrClosed is returned when the session directory is not there any more.
	ErrClosed = errors.New("host: session directory is gone")

	// ErrUnsupported is returned on platforms on which the peer of a socket cannot
	// be identified.
	ErrUnsupported = errors.New("host: this platform cannot say who is at the other end of a socket")

	// ErrNoHost means that no broker serves the session. It is [adapter.ErrGone],
	// too.
	ErrNoHost = adapter.Because(adapter.ErrGone, errors.New("host: no host serves this session: start one"))

	// ErrDied comes with [ErrNoHost] where a broker has left its socket: it was killed.
	ErrDied = errors.New("host: the last host of the session was killed: start it again")

	// ErrSilent means that a broker has the socket and says nothing: its process is
	// stopped or stuck. Nothing was asked of it, or nothing that changes anything.
	ErrSilent = errors.New("host: the host does not answer")

	// ErrVersion means that the peer speaks another version of the protocol, or
	// cannot replay. Nothing is done for or by such a peer.
	ErrVersion = errors.New("host: peer speaks another version: run both from one version of docket")

	// ErrProtocol means that the peer sent what the protocol does not have. The
	// connection is closed.
	ErrProtocol = errors.New("host: peer breaks the protocol")

	// ErrPeer means that the other end of a socket belongs to another user.
	ErrPeer = errors.New("host: peer is another user's process")

	// ErrOwned is returned by [Attach] when another recorder is attached.
	ErrOwned = errors.New("host: another recorder is attached: end it first")

	// ErrToken is returned by [Owner.Rebind] for a token that the broker does not
	// have: it never dispatched it, or another turn superseded it.
	ErrToken = errors.New("host: token is not that of the active or last turn")

	// ErrGap is returned by [Owner.Rebind] when emissions behind the given number
	// are not kept any more, because they were acknowledged.
	ErrGap = errors.New("host: emissions are missing from the replay")

	// ErrNoPermission is returned by [Client.Decide] when nobody waits for that
	// permission: it was answered or revoked, or never asked for. A [Decider] returns
	// it for an option that there is not, too.
	ErrNoPermission = errors.New("host: no such permission is asked for")

	// ErrNoOption is returned by [Client.Decide] when the permission is asked for, but
	// without that option. The text of the error lists those that there are.
	ErrNoOption = errors.New("host: the permission has no such option")

	// ErrTooLong is returned for a line longer than the protocol allows.
	ErrTooLong = errors.New("host: line is too long")
)

// died is ErrNoHost, in the same words, and ErrDied.
type died struct{}

func (died) Error() string   { return ErrNoHost.Error() }
func (died) Unwrap() []error { return []error{ErrNoHost, ErrDied} }

// reasons are the words for the reasons of a refusal.
var reasons = sync.OnceValue(func() map[string]error {
	return map[string]error{
		"busy": adapter.ErrBusy, "blocked": adapter.ErrBlocked, "gone": adapter.ErrGone, "": adapter.ErrRefused,
	}
})

// reasonOf returns the word for a refusal.
func reasonOf(err error) string {
	for _, word := range []string{"busy", "blocked", "gone"} {
		if errors.Is(err, reasons()[word]) {
			return word
		}
	}
	return ""
}

// faults are the words for the errors that are no answers to a prompt.
var faults = sync.OnceValue(func() map[string]error {
	return map[string]error{
		"version": ErrVersion, "protocol": ErrProtocol, "owned": ErrOwned,
		"token": ErrToken, "gap": ErrGap, "permission": ErrNoPermission, "option": ErrNoOption,
	}
})

// faultOf returns the word for err; one without a word is told as text alone.
func faultOf(err error) string {
	for word, fault := range faults() {
		if errors.Is(err, fault) {
			return word
		}
	}
	return ""
}
