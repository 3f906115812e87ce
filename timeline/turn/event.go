package turn

import (
	"strconv"
	"strings"
	"time"

	"github.com/docket-go/docket/timeline"
)

// An Event is one committed event of a session's turn log. Sequence, time and turn
// are assigned by the log alone.
type Event struct {
	Seq  uint64    // its place in the log, counted from 0
	Time time.Time // by the writer's clock, in whole milliseconds
	Turn string    // the id of the turn; empty for [State], which is the session's

	// Native is where the event came from. It identifies nothing here.
	Native Native

	// Payload is what happened. Switch over its type; the union is closed.
	Payload Payload

	// Next is the place behind the event: a read from there goes on after it.
	Next timeline.Cursor
}

// Kind returns the kind of the event's payload.
func (e Event) Kind() Kind { return e.Payload.kind() }

// TurnNumber returns which turn of the session this is, counted from 1, and 0 for
// an event that belongs to no turn.
func (e Event) TurnNumber() uint64 {
	n, _ := numberOf(e.Turn)
	return n
}

// JSON returns the event as it is stored, less its private fields (token, crc and
// seq).
func (e Event) JSON() []byte { return e.append(nil, false) }

// A Native says where an event came from. It is provenance, kept for people and for
// [Turn.Broker]; no part of it identifies a turn or orders events.
type Native struct {
	Provider string // the kind of harness, such as "acp"
	Session  string // the harness's id of its session
	Turn     string // the harness's id of its turn
	Item     string // the harness's id of a message or part

	// Broker is the number that the session host gave the emission: 1, 2, 3… within
	// one turn. Zero means that no broker numbered it.
	Broker uint64
}

// A turn's id is its number, a hyphen, and something random. The number lets the
// log prove that no id ever comes twice without keeping them all.
const idSeparator = "-"

func newID(number uint64, random string) string {
	return strconv.FormatUint(number, 10) + idSeparator + random
}

// numberOf returns the number in a turn's id, and false for what is no id.
func numberOf(id string) (n uint64, ok bool) {
	digits, random, found := strings.Cut(id, idSeparator)
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || !found || n == 0 || digits[0] == '0' || !isRandom(random) {
		return 0, false
	}
	return n, true
}

// isRandom reports whether s can be the random part of a turn's id.
func isRandom(s string) bool {
	for _, c := range s {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return s != "" && len(s) <= 64
}
