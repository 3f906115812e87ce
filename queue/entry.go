package queue

import (
	"encoding/json"
	"time"
)

// MaxMIDBytes bounds the id of a message that is enqueued. That of another writer may
// be longer.
const MaxMIDBytes = 256

// An Entry is one owed message, complete in itself.
type Entry struct {
	MID        string
	From       string            // the sending session; empty means a human
	FromLife   uint64            // which life of the sending session it was
	Text       string            // exactly as it will be handed over
	Attributes map[string]string // for the adapter
	Dispatch   *Dispatch         // of a keyed message
	Seq        uint64            // its public sequence in the timeline, if HasSeq
	HasSeq     bool
	EnqueuedAt time.Time // zero when another writer did not say

	// Doubt says why the message may have been handed over already. Once it is the
	// oldest it counts as claimed, until an attempt at it is noted.
	Doubt string

	// What follows is kept for the oldest entry only, beside the list.

	Attempts    int       // hand-overs begun, and refusals before one began
	LastAttempt time.Time // zero means never
	LastError   string    // why the last attempt did not end in delivery
	Claimed     time.Time // when its last hand-over began, while nothing is known of how it ended

	extra []member
}

// doubted is when the hand-over began that an entry with a doubt stands for; nobody
// knows better.
func (e Entry) doubted() time.Time {
	if e.EnqueuedAt.IsZero() {
		return time.Unix(0, 0).UTC()
	}
	return e.EnqueuedAt
}

// A Dispatch ties an entry to the receipt of a keyed request.
type Dispatch struct {
	Operation     string `json:"operation"`
	RequestDigest string `json:"requestDigest"`
}

// A member is a field of another writer, kept as it is.
type member struct {
	name  string
	value json.RawMessage
}

// Unconfirmed reports that a hand-over of the entry began and nobody knows how it
// ended: the harness may have the message.
func (e Entry) Unconfirmed() bool { return !e.Claimed.IsZero() }
